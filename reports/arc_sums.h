// Sums of the tree of an instruction trace: by function, and by caller and callee. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/arc_model.h"

namespace jprof::reports {

struct FunctionSums {
  uint64_t calls = 0, self = 0, repeats = 0, system_calls = 0;
  // Instructions with those of all it called. Of a recursion the outermost activation counts.
  uint64_t cumulative = 0;
  uint64_t outermost_calls = 0;  // those that made such activations
};

struct ArcSum {
  uint32_t caller = 0, callee = 0;
  uint64_t calls = 0;
  // Of the callee with all it called, where it is not part of an activation of itself: so the arcs
  // to a function add up to its cumulative instructions.
  uint64_t instructions = 0;
  uint64_t outermost_calls = 0;  // not made below the callee itself
};

struct ArcSums {
  std::vector<FunctionSums> functions;  // by number
  std::vector<ArcSum> arcs;             // the most instructions first
};

// `functions`: their number, at least kFirstCode.
ArcSums SumUp(const ArcTrace& trace, size_t functions);

// The tree of all threads together, which is then that of one thread.
ArcTrace MergeThreads(const ArcTrace& trace);

}  // namespace jprof::reports
