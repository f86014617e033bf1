// Estimates the production time of a calling context and its 95 % interval from the numbers of
// samples of several runs. Pure.
//
// The value is the mean over the runs of (samples * period). The interval is that of the time of
// one run. It covers:
// - counting statistics: the score interval of the Poisson distributed number of all samples;
// - the difference between whole runs: the variance of the runs' total times, with Student's t for
//   their number. Two runs show little of it, so it counts together with kPriorRuns runs' worth of
//   a usual difference, kUsualSpread;
// - the difference of a context's share: its relative standard deviation between runs is estimated
//   from all contexts by the method of moments. Of n samples expected in a run, the variance
//   between runs is n + (relative * (1 - share) * n)^2: in proportion to what is outside the
//   context, as the share of the whole is always 1. What differs between runs differs in many
//   contexts at once, so many contexts of two runs show no more of it than the two totals show of
//   the total: it counts together with kUsualShareSpread in the same way, with Student's t.
#pragma once

#include <span>

#include "model/combined/combined_tree.h"
#include "model/values/statistics.h"

namespace jprof::model {

class TimeModel {
 public:
  explicit TimeModel(const CombinedTree& tree);

  // Returns the time in ns of contexts with these samples, one number per run.
  Estimate Of(std::span<const double> samples) const;

  // Returns the share of all samples, from 0 to 1. What makes a whole run faster or slower does not
  // change shares, so they differ less between runs than times.
  Estimate ShareOf(std::span<const double> samples) const;

  // Returns whether there are several runs. One run alone does not show how much runs differ: its
  // intervals cover counting statistics only.
  bool knows_runs() const { return period_ns_.size() > 1; }
  // These are the relative standard deviations between runs of the whole time, and of a context's
  // share of it; 0 if they are not known.
  double relative_total() const { return relative_total_; }
  double relative_share() const { return relative_share_; }
  // These are half of the interval of a run's whole time, and half of that of a context's share for
  // each part of the whole that is outside it. Both are relative.
  double total_arm() const { return total_arm_; }
  double share_arm() const { return share_arm_; }

 private:
  double ShareArm(double share) const;  // relative

  std::span<const double> period_ns_;
  std::span<const double> all_;  // samples of each run
  double relative_total_ = 0, relative_share_ = 0;
  double total_arm_ = 0;  // half of the interval of a run's whole time, relative
  double share_arm_ = 0;  // of a context's share of 0, relative
};

// These are usual relative standard deviations between the CPU times of runs of one program, and
// the number of degrees of freedom that they count for (measured: docs/decisions/0022).
inline constexpr double kUsualSpread = 0.03;
inline constexpr double kUsualShareSpread = 0.06;
inline constexpr double kPriorRuns = 2;

// Returns the relative standard deviation between runs of Poisson distributed numbers, by Fisher
// scoring of the moment equation above. It is 0 if the numbers vary no more than by chance.
// `samples` has `runs` numbers for each context, `outside` has 1 - share of each, or is empty if
// all are 1. Requires at least two runs.
double RelativeSpread(std::span<const double> samples, size_t runs,
                      std::span<const double> outside = {});

}  // namespace jprof::model
