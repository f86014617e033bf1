// Finds arrays of primitive types that have the same contents; most often they are of strings.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heap/load/heap.h"

namespace jprof::heap {

struct Duplicate {
  uint32_t node = kNone;  // one of the arrays
  uint64_t copies = 0;
  uint64_t size = 0;  // bytes of each
  uint64_t wasted() const { return (copies - 1) * size; }
};

// Returns the contents that several arrays have, those that waste most first. Leaves out what
// cannot be reached. Takes 16 bytes for each array. `progress` may be empty.
std::vector<Duplicate> FindDuplicates(const Heap& heap,
                                      const std::function<void(double)>& progress);

}  // namespace jprof::heap
