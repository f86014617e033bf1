// Finds how the runs of a combined profile differ: other machines or commands, other ends, other
// times, and methods with another share of the samples.
#pragma once

#include <vector>

#include "model/combined/combined.h"

namespace jprof::model {

// Returns the differences, the greatest first. Requires that `view` has the tree and the summaries.
std::vector<RunDifference> DifferencesOf(const Combined& combined, const CombinedView& view);

}  // namespace jprof::model
