// Finds the hottest methods of a combined profile.
#pragma once

#include <vector>

#include "model/combined/combined.h"
#include "reports/tree/hottest.h"

namespace jprof::reports {

// Returns the methods and functions with the most samples of their own, summed over all contexts,
// with their exact calls.
std::vector<Hottest> HottestOf(const model::CombinedView& view, const Options& options);

}  // namespace jprof::reports
