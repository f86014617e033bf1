// Estimates the standard error of a ratio of two sums over bursts.
#pragma once

#include <optional>
#include <span>

namespace jprof::cpo {

// Returns the jackknife's standard error of sum(numerators) / sum(denominators), where the bursts
// are taken for independent: sqrt((n - 1) / n * sum((r_i - mean of r)^2)), with the ratio r_i of
// all bursts but i (Efron, Tibshirani: "An Introduction to the Bootstrap", 1993, section 11.2).
// Returns nothing if there are fewer than two bursts, or if leaving one out leaves a denominator of
// 0 or of the other sign. Requires spans of the same size.
std::optional<double> JackknifeError(std::span<const double> numerators,
                                     std::span<const double> denominators);

}  // namespace jprof::cpo
