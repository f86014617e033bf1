// Sums up the call tree by method.
#pragma once

#include <vector>

#include "model/tree/forest.h"

namespace jprof::model {

struct MethodSum {
  profile::MethodId method =
      profile::kRootMethod;           // for the threads themselves, outside any method
  FrameKind type = FrameKind::kNone;  // the one most calls or samples had
  uint64_t calls = 0;
  uint64_t samples = 0;    // taken in it, of all events
  uint64_t contexts = 0;   // rows it has in the tree
  std::vector<Cell> self;  // one per metric
  std::vector<double>
      cumulative;  // with all it called, a recursive call counted once; empty unless asked for
};

// Returns the methods in descending order of BASE of the first metric, or of calls if there
// are no metrics.
std::vector<MethodSum> SumByMethod(const Forest& forest, bool with_cumulative);

}  // namespace jprof::model
