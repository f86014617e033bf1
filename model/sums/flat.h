// Sums up the call tree by method.
#pragma once

#include <span>
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

// These return a method's own value of the first metric, or its calls if there are no metrics; and
// the sum of all methods' own values, which shares refer to.
double OwnOf(const Forest& forest, const MethodSum& sum);
double WholeOf(const Forest& forest);

// The method below which most of another method's own value is.
struct MainCaller {
  profile::MethodId method = profile::kRootMethod;  // the root: the thread calls it
  double share = 0;                                 // of the called method's own value, 0 to 1
};

// Returns the main caller of each of these methods by the exclusive value of the first metric, or
// by calls if there are no metrics. A recursive method is not its own caller; the caller of a
// native function is the nearest Java method, if there is one.
std::vector<MainCaller> MainCallers(const Forest& forest, std::span<const MethodSum> methods);

}  // namespace jprof::model
