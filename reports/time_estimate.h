// The production time of a calling context and its 95 % interval, from the numbers of samples of
// several runs. Pure.
//
// The value is the mean over the runs of (samples * period). The interval is that of the time of
// one run. It covers:
// - counting statistics: the score interval of the Poisson distributed number of all samples;
// - the difference between whole runs: the variance of the runs' total times, with Student's t for
//   their number. Two runs say little of it, so it counts together with kPriorRuns runs' worth of a
//   usual difference, kUsualSpread;
// - the difference of a context's share: its relative standard deviation between runs is estimated
//   from all contexts by the method of moments. Of n samples expected in a run, the variance
//   between runs is n + (relative * (1 - share) * n)^2: in proportion to what is outside the
//   context, as the share of the whole is always 1. What differs between runs differs in many
//   contexts at once, so many contexts of two runs say no more of it than the two totals say of
//   the total: it counts together with kUsualShareSpread in the same way, with Student's t.
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
  // Relative standard deviations between runs: of the whole time, and of a context's share of it;
  // 0 if they are not known.
  double relative_total() const { return relative_total_; }
  double relative_share() const { return relative_share_; }
  // Half of the interval of a run's whole time, and of a context's share for each part of the whole
  // that is outside it, relative.
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

// A usual relative standard deviation between the CPU times of runs of one program, and the number
// of degrees of freedom that it counts for (measured: docs/decisions/0022).
inline constexpr double kUsualSpread = 0.03;
inline constexpr double kUsualShareSpread = 0.06;
inline constexpr double kPriorRuns = 2;

// The relative standard deviation between runs of Poisson distributed numbers: `samples` has
// `runs` numbers for each context, `outside` 1 - share of each (empty: 1). Fisher scoring of the
// moment equation above; 0 if the numbers vary no more than by chance. At least two runs.
double RelativeSpread(std::span<const double> samples, size_t runs,
                      std::span<const double> outside = {});

}  // namespace jprof::reports
