// Sums up a call tree by label: what the program did while each label was its innermost one.
#pragma once

#include <cstdint>
#include <vector>

#include "model/sums/flat.h"
#include "model/tree/forest.h"

namespace jprof::model {

struct LabelSum {
  profile::MethodId label = profile::kRootMethod;  // the root: no label was set
  uint64_t sets = 0;
  uint64_t calls = 0;              // of methods
  std::vector<Cell> self;          // one per metric, of the label and the methods
  std::vector<MethodSum> methods;  // `cumulative` is empty; the most calls first
};

// Returns the labels with the greatest value of the first metric first, or the most calls if there
// are no metrics, and at the end what was done without a label. Empty if no label was set. A method
// counts for the innermost label above it.
std::vector<LabelSum> SumByLabel(const Forest& forest);

}  // namespace jprof::model
