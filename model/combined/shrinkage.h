// Estimates the shares of contexts with few samples (docs/decisions/0021). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/tree/node.h"

namespace jprof::model {

// Returns the share of the whole of each context alone, from its samples and a base measure, which
// is what is known without samples of how the time is divided. Top down (a Polya tree): a context's
// share with all below it is divided into its own part and those of the contexts below in
// proportion to samples + weight * base part. So a context with many samples has the share that
// they have, and sums of shares hold.
//
// Requires columns of equal length, a context's parent before it, and no negative value in `base`.
std::vector<double> ShrunkShares(std::span<const NodeIndex> parent, std::span<const double> samples,
                                 std::span<const double> base, double weight);

// The base measure calls^kCallsPower, with this weight, predicted held-out runs best.
inline constexpr double kCallsWeight = 3;
inline constexpr double kCallsPower = 0.25;

// A context with fewer samples in all runs is shown with its estimate.
inline constexpr double kFewSamples = 10;

}  // namespace jprof::model
