// Finds how full the collections of java.util are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heap/load/heap.h"

namespace jprof::heap {

struct CollectionSum {
  uint32_t type = kNone;
  uint64_t collections = 0;
  uint64_t empty = 0;  // without elements
  uint64_t elements = 0;
  uint64_t slots = 0;  // of their arrays
  uint64_t used = 0;   // slots that elements can take at most
  uint64_t unused_bytes = 0;
};

// Returns sums by class of the collections that can be reached, those with most unused bytes first.
// `progress` may be empty.
std::vector<CollectionSum> SumCollections(const Heap& heap,
                                          const std::function<void(double)>& progress);

}  // namespace jprof::heap
