// The production time of a calling context and its 95 % interval, from the numbers of samples of
// several runs. Pure.
//
// The value is the mean over the runs of (samples * period). The interval is that of the time of
// one run. It covers counting statistics: the score interval of the Poisson distributed number of
// all samples (statistics.h); and the difference between runs: each context's true time varies
// from run to run by a relative standard deviation. That is estimated from all contexts together
// by the method of moments: of n samples expected in a run, the variance between runs is
// n + (relative * n)^2. Each context then moves it towards its own runs' variance.
#pragma once

#include <span>

#include "reports/combined_tree.h"
#include "reports/statistics.h"

namespace jprof::reports {

class TimeModel {
 public:
  explicit TimeModel(const CombinedTree& tree);

  // The time of contexts with these samples, one number a run, in ns.
  Estimate Of(std::span<const double> samples) const;

  // The share of all samples, from 0 to 1. What makes a whole run faster or slower does not change
  // shares: they differ less between runs than times.
  Estimate ShareOf(std::span<const double> samples) const;

  // One run alone does not show how much runs differ: intervals hold counting statistics only.
  bool knows_runs() const { return period_ns_.size() > 1; }
  // The relative standard deviation of a context's time between runs; 0 if it is not known.
  double relative() const { return relative_; }
  double relative_share() const { return relative_share_; }

 private:
  double Spread(double value, double relative) const;

  std::span<const double> period_ns_;
  std::span<const double> all_;  // samples of each run
  double relative_ = 0, relative_share_ = 0;
};

// The relative standard deviation between runs of Poisson distributed numbers: `samples` has
// `runs` numbers for each context. Fisher scoring of the moment equation in the header; 0 if the
// numbers vary no more than by chance. At least two runs.
double RelativeSpread(std::span<const double> samples, size_t runs);

}  // namespace jprof::reports
