#include "model/combined/time_estimate.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace jprof::model {
namespace {

using profile::RunSpread;

// Runs that follow one another are more alike than runs at other times: these parts of the variance
// between runs do not shrink with more runs in a row (docs/decisions/0040).
constexpr double kTotalDrift = 0.5;
constexpr double kShareDrift = 0.05;

// A usual dispersion, which counts as that of so many contexts.
constexpr double kUsualDispersion = 0.7;
constexpr double kUsualContexts = 20;
constexpr double kLeastDispersion = 0.05;

// Contexts with fewer samples in a run show nothing of how runs differ.
constexpr double kLeastSamples = 5;

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Variance(std::span<const double> values) {
  const double mean = Mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

// Returns the numbers of samples of distinct contexts as if all runs had equally many. Leaves out
// contexts with too few samples and, with all contexts below, those with nearly the same number as
// their caller, which would count one difference between runs several times. Requires that every
// run has samples.
RunSamples DistinctContexts(const CombinedTree& tree, Part part) {
  constexpr double kSame = 0.9;
  const size_t runs = tree.runs;
  const std::span<const double> whole = tree.AllSamples(0);
  const double mean = Mean(whole);
  RunSamples found = {.runs = runs};
  std::vector<double> scaled(runs);
  for (size_t i = 1; i < tree.contexts.size(); ++i) {
    const std::span<const double> samples =
        part == Part::kOwn ? tree.OwnSamples(i) : tree.AllSamples(i);
    const double sum = Sum(samples);
    if (sum < kLeastSamples * static_cast<double>(runs)) continue;
    if (part == Part::kAll && sum > kSame * Sum(tree.AllSamples(tree.contexts[i].parent))) continue;
    for (size_t run = 0; run < runs; ++run) scaled[run] = samples[run] * mean / whole[run];
    found.samples.insert(found.samples.end(), scaled.begin(), scaled.end());
    found.outside.push_back(1 - Mean(scaled) / mean);
  }
  return found;
}

// A context's expected number of samples, times what is outside, and the variance between the runs.
struct Moments {
  double expected, variance;
};

std::vector<Moments> MomentsOf(const RunSamples& of) {
  std::vector<Moments> moments;
  for (size_t i = 0; i + of.runs <= of.samples.size(); i += of.runs) {
    const std::span numbers = std::span(of.samples).subspan(i, of.runs);
    const double expected = Mean(numbers) * (of.outside.empty() ? 1 : of.outside[i / of.runs]);
    if (expected > 0) moments.push_back({expected, Variance(numbers)});
  }
  return moments;
}

// Does one step of the weighted least squares of dispersion * expected + squared * expected^2 to
// the variances. A context's weight is the inverse of its variance's own variance, by the last
// step.
void Refine(const std::vector<Moments>& moments, double& dispersion, double& squared, bool both) {
  double w2 = 0, w3 = 0, w4 = 0, v1 = 0, v2 = 0;
  for (const auto& [n, variance] : moments) {
    const double model = dispersion * n + squared * n * n, weight = 1 / (model * model);
    w2 += weight * n * n;
    w3 += weight * n * n * n;
    w4 += weight * n * n * n * n;
    v1 += weight * n * variance;
    v2 += weight * n * n * variance;
  }
  const double determinant = w2 * w4 - w3 * w3;
  if (both && determinant > 1e-9 * w2 * w4) {
    dispersion = (v1 * w4 - v2 * w3) / determinant;
    squared = (v2 * w2 - v1 * w3) / determinant;
  } else if (w4 > 0) {
    squared = (v2 - dispersion * w3) / w4;
  }
  if (both && squared <= 0) dispersion = v1 / w2;
  if (both && dispersion < kLeastDispersion) {
    dispersion = kLeastDispersion;
    squared = (v2 - dispersion * w3) / w4;
  }
  squared = std::max(0.0, squared);
}

// Returns whether two numbers are equal within what an interval could show.
bool IsSettled(double before, double after) {
  return std::abs(after - before) <= 1e-4 * (std::abs(before) + 1e-4);
}

Variation Fitted(const RunSamples& of, bool both) {
  constexpr int kSteps = 200;
  const std::vector<Moments> moments = MomentsOf(of);
  double dispersion = 1, squared = 0;
  for (int step = 0; step < kSteps && !moments.empty(); ++step) {
    double next_dispersion = dispersion, next_squared = squared;
    Refine(moments, next_dispersion, next_squared, both);
    const bool settled = IsSettled(dispersion, next_dispersion) && IsSettled(squared, next_squared);
    // Half of a whole step, as whole ones can go to and fro between two results.
    dispersion = std::sqrt(dispersion * next_dispersion);
    squared = (squared + next_squared) / 2;
    if (settled) break;
  }
  return {.dispersion = dispersion, .relative = std::sqrt(squared), .contexts = moments.size()};
}

// Returns half the interval of the mean number of samples of a run, relative. The time of a run
// ends between two samples: its number of samples varies by about one.
double EdgeArm(std::span<const double> samples) {
  return Sum(samples) > 0
             ? kDeviations95 / std::sqrt(static_cast<double>(samples.size())) / Mean(samples)
             : 0;
}

// Returns half the interval of the mean of `runs` runs in a row, relative.
double MeanArm(const RunSpread& spread, size_t runs, double drift) {
  const boost::math::students_t student(spread.freedom);
  return boost::math::quantile(student, 0.975) * spread.relative *
         std::sqrt(1 / static_cast<double>(runs) + drift);
}

}  // namespace

Variation VariationOf(const RunSamples& of) { return Fitted(of, true); }

Variation SpreadOf(const RunSamples& of) { return Fitted(of, false); }

Estimate MeanOf(std::span<const double> runs, const RunSpread& usual) {
  const double mean = Mean(runs);
  const RunSpread found = runs.size() < 2 || mean == 0
                              ? RunSpread{}
                              : RunSpread{std::sqrt(Variance(runs)) / std::abs(mean),
                                          static_cast<double>(runs.size()) - 1};
  const double arm = std::abs(mean) * MeanArm(Pooled(usual, found), runs.size(), kTotalDrift);
  return {mean, mean - arm, mean + arm};
}

TimeModel::TimeModel(const CombinedTree& tree, const profile::RunSpreads& usual)
    : period_ns_(tree.period_ns),
      all_(std::span(tree.all_samples).first(tree.runs)),
      spreads_(usual),
      dispersion_(kUsualDispersion) {
  found_ = {.total = {}, .share = {}, .own_share = {}};
  if (knows_runs() && std::ranges::min(all_) > 0) {
    const double freedom = static_cast<double>(tree.runs) - 1;
    std::vector<double> times;
    for (size_t run = 0; run < tree.runs; ++run) times.push_back(all_[run] * period_ns_[run]);
    found_.total = {std::sqrt(Variance(times)) / Mean(times), freedom};
    const Variation shares = VariationOf(DistinctContexts(tree, Part::kAll));
    const Variation own = SpreadOf(DistinctContexts(tree, Part::kOwn));
    const auto contexts = static_cast<double>(shares.contexts);
    dispersion_ = (kUsualContexts * kUsualDispersion + contexts * shares.dispersion) /
                  (kUsualContexts + contexts);
    if (shares.contexts > 0) found_.share = {shares.relative, freedom};
    if (own.contexts > 0) found_.own_share = {own.relative, freedom};
  }
  spreads_.total = Pooled(usual.total, found_.total);
  spreads_.share = Pooled(usual.share, found_.share);
  spreads_.own_share = Pooled(usual.own_share, found_.own_share);
  total_arm_ = std::hypot(MeanArm(spreads_.total, tree.runs, kTotalDrift), EdgeArm(all_));
  all_arm_ = MeanArm(spreads_.share, tree.runs, kShareDrift);
  own_arm_ = MeanArm(spreads_.own_share, tree.runs, kShareDrift);
}

// Few samples are independent of each other, and so are those of a context alone.
double TimeModel::DispersionOf(double samples, Part part) const {
  constexpr double kFew = 10;
  if (part == Part::kOwn || !(samples > kFew)) return 1;
  return 1 + (dispersion_ - 1) * (1 - kFew / samples);
}

Estimate TimeModel::Of(std::span<const double> samples, Part part) const {
  double value = 0, whole = 0;
  for (size_t run = 0; run < samples.size(); ++run) {
    value += samples[run] * period_ns_[run] / static_cast<double>(samples.size());
    whole += all_[run] * period_ns_[run] / static_cast<double>(samples.size());
  }
  // Without any sample, nothing is known but that less than some samples were due.
  if (!(whole > 0))
    return Scaled(Poisson(0), Mean(period_ns_) / static_cast<double>(samples.size()));
  const Estimate share = ShareOf(samples, part);
  const double arm = value * total_arm_;
  return {value, std::max(0.0, value - std::hypot(whole * (share.value - share.low), arm)),
          value + std::hypot(whole * (share.high - share.value), arm)};
}

Estimate TimeModel::ShareOf(std::span<const double> samples, Part part) const {
  double own = 0, all = 0, share = 0;
  const auto runs =
      static_cast<double>(std::ranges::count_if(all_, [](double n) { return n > 0; }));
  for (size_t run = 0; run < samples.size(); ++run) {
    own += samples[run];
    all += all_[run];
    if (all_[run] > 0) share += samples[run] / all_[run] / runs;
  }
  const double dispersion = DispersionOf(own, part);
  const Estimate counted = Wilson(own / dispersion, all / dispersion);
  const double arm = share * (1 - share) * share_arm(part);
  return {share, std::max(0.0, share - std::hypot(counted.value - counted.low, arm)),
          std::min(1.0, share + std::hypot(counted.high - counted.value, arm))};
}

}  // namespace jprof::model
