// Estimates the mean time of a calling context over runs of the program, and its 95 % interval,
// from the numbers of samples of a few runs (docs/decisions/0040). Pure.
//
// The value is the mean over the runs of (samples * period). The interval is that of the mean over
// many runs, and covers:
// - counting: of n samples of a run, a context with the share p has about n * p, with a variance of
//   dispersion * n * p * (1 - p). Timers fire at regular intervals and programs have phases, so the
//   dispersion is mostly below that of independent samples, 1. It is estimated from all contexts;
// - the difference between whole runs: the variance of the runs' total times, and of one sample;
// - the difference of a context's share between runs: a share p differs by relative * p * (1 - p),
//   where `relative` is estimated from all contexts together. The share of a context alone, without
//   the contexts below, differs more, and has a `relative` of its own.
// Two runs show little of how much runs differ. So each variance counts together with what earlier
// profiles of the machine showed (profile::RunSpreads), as in Smyth's moderated variance
// (Statistical Applications in Genetics and Molecular Biology 3, 2004), with Student's t.
#pragma once

#include <span>

#include "model/combined/combined_tree.h"
#include "model/values/statistics.h"
#include "profile/read/run_spreads.h"

namespace jprof::model {

// Says whether a value is of a context alone or of it with all contexts below.
enum class Part { kOwn, kAll };

class TimeModel {
 public:
  TimeModel(const CombinedTree& tree, const profile::RunSpreads& usual);

  // Returns the time in ns of contexts with these samples, one number per run.
  Estimate Of(std::span<const double> samples, Part part) const;

  // Returns the share of all samples, from 0 to 1. What makes a whole run faster or slower does not
  // change shares, so they differ less between runs than times.
  Estimate ShareOf(std::span<const double> samples, Part part) const;

  // Returns whether there are several runs. One run alone does not show how much runs differ: its
  // intervals contain the usual difference.
  bool knows_runs() const { return period_ns_.size() > 1; }
  // Returns what these runs show alone, with one degree of freedom less than there are runs. A
  // spread without freedom is unknown.
  const profile::RunSpreads& found() const { return found_; }
  // Returns the same pooled with the usual spreads. The intervals are made of these.
  const profile::RunSpreads& spreads() const { return spreads_; }
  double dispersion() const { return dispersion_; }
  // These are half of the interval of the mean whole time, and half of that of a context's share
  // for each part of the whole that is outside it. Both are relative.
  double total_arm() const { return total_arm_; }
  double share_arm(Part part) const { return part == Part::kOwn ? own_arm_ : all_arm_; }

 private:
  double DispersionOf(double samples, Part part) const;

  std::span<const double> period_ns_;
  std::span<const double> all_;  // samples of each run
  profile::RunSpreads found_, spreads_;
  double dispersion_ = 1;
  double total_arm_ = 0, own_arm_ = 0, all_arm_ = 0;
};

// Returns the mean of what several runs measured, with the interval of the mean over many runs:
// they differ as these runs do, and as is usual.
Estimate MeanOf(std::span<const double> runs, const profile::RunSpread& usual);

// The numbers of samples of some contexts, [context * runs + run], and the part of the whole that
// is outside each context. `outside` may be empty if all are 1.
struct RunSamples {
  size_t runs = 0;
  std::vector<double> samples, outside;
};

// How the numbers of contexts vary: their variance is dispersion * n + (relative * n)^2, where n is
// the number of samples times what is outside.
struct Variation {
  double dispersion = 1;
  double relative = 0;
  size_t contexts = 0;  // of which it was estimated
};

// Returns the variation between the runs by weighted least squares. `relative` is 0 if the numbers
// vary no more than in proportion to themselves. Requires at least two runs.
Variation VariationOf(const RunSamples& of);

// Returns the same for a dispersion of 1.
Variation SpreadOf(const RunSamples& of);

}  // namespace jprof::model
