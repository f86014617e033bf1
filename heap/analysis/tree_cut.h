// The tree of dominators cut to few rows, for what shows it as a whole. Each large object has a
// row. Small objects that the same row dominates are joined by class, and a class of them that is
// large together has a row, too, below which the tree goes on with all that they dominate. What is
// left below a row is one more row. So the sizes of a row and of all rows below it add up to what
// it retains, and those of all rows to the live bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/load/heap.h"

namespace jprof::heap {

struct TreeRow {
  enum class Kind : uint8_t {
    kObject,
    kObjects,
    kOthers
  };  // one; several of a class; what is left

  Kind kind = Kind::kObject;
  uint32_t parent = kNone;  // a row before this one; kNone at the top
  uint32_t node = kNone;    // the object, or one of them; kNone for kOthers
  uint64_t joined = 0;      // objects that the row stands for, without what they dominate
  uint64_t objects = 0;     // the same or, for kOthers, with what they dominate
  uint64_t bytes = 0;       // of these
};

struct TreeCut {
  std::vector<TreeRow> rows;
  uint64_t least = 0;  // what retains fewer bytes than this has no row of its own
};

struct CutLimits {
  double share = 0.0001;  // of the live bytes: what retains less has no row of its own
  size_t rows = 20'000;   // the largest ones; each may have one more below it for what is left
  uint32_t levels = 64;   // a list would have as many as objects
};

TreeCut CutTree(const Heap& heap, const DominatorChildren& children, const CutLimits& limits);

}  // namespace jprof::heap
