// Computes typical values from samples. Pure.
//
// The clock advances in steps (26 ticks on the reference machine), so a single delta is imprecise
// and the smallest is meaningless: only the mean of many is precise. An interrupt within an
// interval is not a cost of the transition: deltas far above the median are discarded before the
// mean is computed.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "calibrate/model/key.h"

namespace jprof::calibrate {

struct Typical {
  uint64_t count = 0;  // samples kept
  uint64_t cut = 0;    // samples discarded as disturbed
  double mean = 0;
  double spread = 0;  // standard deviation of the samples kept
  double minimum = 0;
};

// The samples up to kCutFactor * (median + granularity) are kept. `granularity` is the
// clock's step.
inline constexpr double kCutFactor = 8;
Typical Estimate(std::vector<uint32_t> samples, double granularity);

// The number of times that one walk of a shape makes each transition.
using Counts = std::map<Key, double>;

// One equation: the sum over keys of counts[key] * value(key) is `total`.
struct Equation {
  Counts counts;
  double total = 0;
};

// Solve returns the values nearest to `start` (by Kaczmarz's projections) that satisfy the
// equations and do not exceed `ceiling`, if the key has one. If the equations contradict each
// other, as measurements do, the result is a compromise. Keys in no equation keep their start; keys
// without a start begin at `fallback`. Values may be negative: the production handler subtracts an
// estimate of its own tree update from every interval.
struct Problem {
  std::vector<Equation> equations;
  std::map<Key, double> start;
  std::map<Key, double> ceiling;
  double fallback = 0;
};
std::map<Key, double> Solve(const Problem& problem);

// Returns how well `values` satisfy the equations: the sum of the predicted totals divided by the
// sum of the totals.
double Explained(const std::vector<Equation>& equations, const std::map<Key, double>& values);

}  // namespace jprof::calibrate
