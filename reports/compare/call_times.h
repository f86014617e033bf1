// Compares how long single calls took (`jprof callflow --distribution`) in two profiles: the times
// that 50, 90 and 99 % of the calls of a method or a context did not exceed.
//
// The interval of a ratio is that of the two quantiles, whose ends are other calls of the same
// lists (the ranks that a binomial distribution leaves open), as if calls were independent. A
// quantile is known to a quarter of its value, so a ratio between 0.8 and 1.25 is within the error.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/sums/distributions.h"
#include "model/tree/joint_tree.h"
#include "model/values/statistics.h"

namespace jprof::reports {

inline constexpr double kComparedQuantiles[] = {0.5, 0.9, 0.99};

struct TimeChange {
  model::CallTime a, b;
  model::Estimate ratio;  // b / a, with 95 %; NaN if a is 0
  bool within = true;     // it cannot be distinguished from 1
};

// The calls of a method or a context on both sides, by one clock.
struct ClockChange {
  const char* clock = "";  // "cpu", "elapsed"
  std::array<TimeChange, std::size(kComparedQuantiles)> quantiles;
  std::array<model::CallTime, 2> means;
};

struct CallChange {
  uint32_t id = 0;  // in the tree: a context or a name
  std::array<uint64_t, 2> calls = {};
  std::array<ClockChange, 2> clocks;
};

// Those that both profiles have times of, in each list those with sure and large changes first.
struct CallChanges {
  std::vector<CallChange> contexts, methods;

  bool empty() const { return methods.empty(); }
};

// `forests` are those that the tree was made of.
CallChanges CompareCalls(const std::array<model::Forest, 2>& forests, const model::JointTree& tree);

// Returns how the ratio of two histograms' quantiles is known. Requires that both have calls.
TimeChange ChangeOf(const model::TimeHistogram& a, const model::TimeHistogram& b, double quantile);

// Returns "12.3 us", or "<X" of a guess.
std::string TimeText(const model::CallTime& time);
// Returns "1.25", or "-" if it is not known.
std::string RatioText(double ratio);

}  // namespace jprof::reports
