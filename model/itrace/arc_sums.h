// Sums up the tree of an instruction trace by function, and by caller and callee. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "model/itrace/arc_model.h"

namespace jprof::model {

struct FunctionSums {
  uint64_t calls = 0, self = 0, repeats = 0, system_calls = 0;
  // Includes the instructions of all that it called. Only the outermost activation of a
  // recursion counts.
  uint64_t cumulative = 0;
  uint64_t outermost_calls = 0;  // those that made such activations
};

struct ArcSum {
  uint32_t caller = 0, callee = 0;
  uint64_t calls = 0;
  // Counts the instructions of the callee and of all that it called, unless the call is
  // part of another activation of the callee. So the arcs to a function add up to its
  // cumulative instructions.
  uint64_t instructions = 0;
  uint64_t outermost_calls = 0;  // not made below the callee itself
};

struct ArcSums {
  std::vector<FunctionSums> functions;  // by number
  std::vector<ArcSum> arcs;             // the most instructions first
};

// Sums up a tree of `functions` functions, at least kFirstCode.
ArcSums SumUp(const ArcTrace& trace, size_t functions);

// Returns the tree of all threads together, as that of one thread.
ArcTrace MergeThreads(const ArcTrace& trace);

}  // namespace jprof::model
