// Finds the objects that retain most, as a part of the tree of dominators.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/load/heap.h"

namespace jprof::heap {

struct LargeObject {
  uint32_t node = kNone;
  uint32_t depth = 0;  // in the tree; 0 if no object dominates it
};

struct LargestObjects {
  std::vector<LargeObject> objects;  // in the order of the tree; siblings by what they retain
  uint64_t left_out = 0;             // other objects of these levels
};

// Returns the `most` objects that retain most in the first `levels` of the tree; all if `most` is
// 0. An object retains no more than its dominator, so each object follows its dominator.
LargestObjects FindLargest(const Heap& heap, const DominatorChildren& children, uint32_t levels,
                           uint64_t most);

}  // namespace jprof::heap
