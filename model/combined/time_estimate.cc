#include "model/combined/time_estimate.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace jprof::model {
namespace {

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Variance(std::span<const double> values) {
  const double mean = Mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

// Returns the inclusive numbers of samples of distinct contexts. Left out are contexts with nearly
// the same number as their caller, which would count one difference between runs several times, and
// contexts with too few samples.
std::vector<double> DistinctContexts(const CombinedTree& tree) {
  constexpr double kSame = 0.9;
  constexpr double kLeast = 10;
  std::vector<double> samples;
  for (size_t i = 1; i < tree.contexts.size(); ++i) {
    const double own = Sum(tree.AllSamples(i));
    const double parent = Sum(tree.AllSamples(tree.contexts[i].parent));
    if (own < kLeast * static_cast<double>(tree.runs) || own > kSame * parent) continue;
    for (size_t run = 0; run < tree.runs; ++run) samples.push_back(tree.AllSamples(i, run));
  }
  return samples;
}

// Combines a relative spread that was found with `freedom` degrees of freedom with the usual one.
double WithUsual(double found, double freedom, double usual) {
  return std::sqrt((kPriorRuns * usual * usual + freedom * found * found) / (kPriorRuns + freedom));
}

// Returns half the interval of one run's difference from the mean of `runs`.
double OneRunArm(double relative, double freedom, size_t runs) {
  const boost::math::students_t student(kPriorRuns + freedom);
  return boost::math::quantile(student, 0.975) * relative *
         std::sqrt(1 + 1 / static_cast<double>(runs));
}

}  // namespace

double RelativeSpread(std::span<const double> samples, size_t runs,
                      std::span<const double> outside) {
  constexpr int kSteps = 20;
  double squared = 0;
  for (int step = 0; step < kSteps; ++step) {
    double above = 0, below = 0;
    for (size_t i = 0; i + runs <= samples.size(); i += runs) {
      const std::span<const double> numbers = samples.subspan(i, runs);
      const double mean = Mean(numbers), free = mean * (outside.empty() ? 1 : outside[i / runs]);
      if (!(free > 0)) continue;
      const double variance = mean + squared * free * free;
      const double weight = free * free / (variance * variance);
      above += weight * (Variance(numbers) - mean);
      below += weight * free * free;
    }
    const double next = below > 0 ? std::max(0.0, above / below) : 0;
    const bool settled = std::abs(next - squared) <= 1e-6 * next;
    squared = next;
    if (settled) break;
  }
  return std::sqrt(squared);
}

TimeModel::TimeModel(const CombinedTree& tree)
    : period_ns_(tree.period_ns), all_(std::span(tree.all_samples).first(tree.runs)) {
  if (!knows_runs()) return;
  std::vector<double> times;
  for (size_t run = 0; run < tree.runs; ++run) times.push_back(all_[run] * period_ns_[run]);
  if (!(Mean(times) > 0)) return;
  const double seen = std::sqrt(Variance(times)) / Mean(times);
  const double own = static_cast<double>(tree.runs) - 1;
  relative_total_ = WithUsual(seen, own, kUsualSpread);
  total_arm_ = OneRunArm(relative_total_, own, tree.runs);
  std::vector<double> samples = DistinctContexts(tree);
  std::vector<double> outside(samples.size() / tree.runs, 1);
  for (size_t i = 0; i < samples.size(); ++i) {
    const double all = all_[i % tree.runs];
    if (!(all > 0)) continue;
    outside[i / tree.runs] -= samples[i] / all / static_cast<double>(tree.runs);
    samples[i] *= Mean(all_) / all;
  }
  relative_share_ = WithUsual(RelativeSpread(samples, tree.runs, outside), own, kUsualShareSpread);
  share_arm_ = OneRunArm(relative_share_, own, tree.runs);
}

// Returns half the interval of one run's difference from the mean of all that were sampled.
double TimeModel::ShareArm(double share) const { return share_arm_ * (1 - share); }

Estimate TimeModel::Of(std::span<const double> samples) const {
  const auto runs = static_cast<double>(samples.size());
  double value = 0, all = 0, period = 0;
  for (size_t run = 0; run < samples.size(); ++run) {
    value += samples[run] * period_ns_[run] / runs;
    period += period_ns_[run] / runs;
    all += samples[run];
  }
  const double one = all > 0 ? value / all : period / runs;
  Estimate estimate = Scaled(Poisson(all), one);
  if (!knows_runs()) return estimate;
  const double arm = value * std::hypot(total_arm_, ShareArm(ShareOf(samples).value));
  estimate.low = std::max(0.0, value - std::hypot(value - estimate.low, arm));
  estimate.high = value + std::hypot(estimate.high - value, arm);
  return estimate;
}

Estimate TimeModel::ShareOf(std::span<const double> samples) const {
  double own = 0, all = 0, share = 0;
  for (size_t run = 0; run < samples.size(); ++run) {
    own += samples[run];
    all += all_[run];
    if (all_[run] > 0) share += samples[run] / all_[run] / static_cast<double>(samples.size());
  }
  Estimate estimate = Wilson(own, all);
  if (!knows_runs()) return estimate;
  const double arm = share * ShareArm(share);
  return {share, std::max(0.0, share - std::hypot(estimate.value - estimate.low, arm)),
          std::min(1.0, share + std::hypot(estimate.high - estimate.value, arm))};
}

}  // namespace jprof::model
