// The time estimates against simulated runs whose true times are known.
#include "model/combined/time_estimate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace jprof::reports {
namespace {

constexpr double kPeriod = 1e6;

// A number of mean 1 with this relative standard deviation.
double Factor(std::mt19937& random, double relative) {
  if (relative == 0) return 1;
  const double sigma = std::sqrt(std::log(1 + relative * relative));
  return std::exp(std::normal_distribution(0.0, sigma)(random) - sigma * sigma / 2);
}

double Count(std::mt19937& random, double mean) {
  return static_cast<double>(std::poisson_distribution<int64_t>(mean)(random));
}

std::vector<double> SpreadCounts(unsigned seed, size_t runs, double relative) {
  std::mt19937 random(seed);
  std::vector<double> samples;
  for (int context = 0; context < 600; ++context) {
    const double mean = 20 * std::pow(200, std::uniform_real_distribution(0.0, 1.0)(random));
    for (size_t run = 0; run < runs; ++run)
      samples.push_back(Count(random, mean * Factor(random, relative)));
  }
  return samples;
}

TEST(RelativeSpread, IsThatOfTheRuns) {
  for (const size_t runs : {2u, 3u, 5u}) {
    for (const double relative : {0.05, 0.1, 0.3}) {
      const double found = model::RelativeSpread(SpreadCounts(1, runs, relative), runs);
      EXPECT_NEAR(found / relative, 1, 0.15) << runs << " runs, " << relative;
    }
  }
}

TEST(RelativeSpread, IsNearlyZeroForChanceAlone) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    EXPECT_LT(model::RelativeSpread(SpreadCounts(seed, 2, 0), 2), 0.02);
    EXPECT_LT(model::RelativeSpread(SpreadCounts(seed, 5, 0), 5), 0.02);
  }
  EXPECT_EQ(model::RelativeSpread({}, 2), 0);
  EXPECT_EQ(model::RelativeSpread(std::vector<double>{0, 0, 7, 7}, 2), 0);
}

TEST(RelativeSpread, IsInProportionToWhatIsOutsideTheContext) {
  std::mt19937 random(3);
  std::vector<double> samples, outside;
  for (int context = 0; context < 600; ++context) {
    outside.push_back(context % 2 == 0 ? 0.4 : 0.99);
    const double mean = context % 2 == 0 ? 6000 : 100;
    for (int run = 0; run < 3; ++run)
      samples.push_back(Count(random, mean * Factor(random, 0.1 * outside.back())));
  }
  EXPECT_NEAR(model::RelativeSpread(samples, 3, outside) / 0.1, 1, 0.15);
}

// A tree of contexts below the threads with these samples: [context][run].
model::CombinedTree TreeOf(const std::vector<std::vector<double>>& samples) {
  model::CombinedTree tree;
  tree.runs = samples.front().size();
  tree.period_ns.assign(tree.runs, kPeriod);
  tree.contexts.resize(samples.size() + 1);
  for (size_t i = 1; i < tree.contexts.size(); ++i) tree.contexts[i].parent = 0;
  tree.samples.assign(tree.runs, 0);
  tree.all_samples.assign(tree.runs, 0);
  for (const std::vector<double>& context : samples) {
    for (size_t run = 0; run < tree.runs; ++run) tree.all_samples[run] += context[run];
    tree.samples.insert(tree.samples.end(), context.begin(), context.end());
    tree.all_samples.insert(tree.all_samples.end(), context.begin(), context.end());
  }
  return tree;
}

TEST(TimeModel, FewRunsDoNotShowThatRunsAreAlike) {
  const std::vector<double> two(2, 1e6), five(5, 1e6);
  const double after_two = model::TimeModel(TreeOf({two, two})).relative_share();
  EXPECT_NEAR(after_two,
              model::kUsualShareSpread * std::sqrt(model::kPriorRuns / (model::kPriorRuns + 1)),
              0.002);
  EXPECT_LT(model::TimeModel(TreeOf({five, five})).relative_share(), 0.75 * after_two);
}

// A program whose contexts have these shares on average, and whose runs differ.
struct Program {
  std::vector<double> shares;

  explicit Program(std::mt19937& random) {
    for (int i = 0; i < 12; ++i)
      shares.push_back(std::exp(std::normal_distribution(0.0, 1.2)(random)));
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
  }

  // The true number of samples of each context in one run.
  std::vector<double> Run(std::mt19937& random, double whole) const {
    std::vector<double> run;
    for (const double share : shares) run.push_back(share * Factor(random, 0.08));
    const double sum = std::accumulate(run.begin(), run.end(), 0.0);
    const double all = whole * Factor(random, 0.03);
    for (double& one : run) one *= all / sum;
    return run;
  }
};

struct Coverage {
  int contexts = 0, times = 0, shares = 0;
};

// How many intervals contain what another run of the same program truly takes.
Coverage Simulate(size_t runs, double whole) {
  std::mt19937 random(static_cast<unsigned>(runs));
  Coverage coverage;
  while (coverage.contexts < 2000) {
    const Program program(random);
    std::vector<std::vector<double>> samples(program.shares.size());
    for (size_t run = 0; run < runs; ++run) {
      const std::vector<double> truth = program.Run(random, whole);
      for (size_t i = 0; i < truth.size(); ++i) samples[i].push_back(Count(random, truth[i]));
    }
    const model::CombinedTree tree = TreeOf(samples);
    const model::TimeModel model(tree);
    const std::vector<double> other = program.Run(random, whole);
    const double all = std::accumulate(other.begin(), other.end(), 0.0);
    for (size_t i = 0; i < other.size(); ++i) {
      if (program.shares[i] < 0.01 || program.shares[i] > 0.6) continue;
      ++coverage.contexts;
      coverage.times += model.Of(samples[i]).Holds(other[i] * kPeriod);
      coverage.shares += model.ShareOf(samples[i]).Holds(other[i] / all);
    }
  }
  return coverage;
}

TEST(TimeModel, IntervalsContainTheTimeOfAnotherRun) {
  for (const size_t runs : {2u, 3u, 5u}) {
    for (const double whole : {2'000.0, 20'000.0}) {
      const Coverage coverage = Simulate(runs, whole);
      EXPECT_GE(coverage.times, 0.9 * coverage.contexts) << runs << " runs of " << whole;
      EXPECT_GE(coverage.shares, 0.9 * coverage.contexts) << runs << " runs of " << whole;
      RecordProperty(fmt::format("times_{}_{:.0f}", runs, whole), coverage.times);
      RecordProperty(fmt::format("shares_{}_{:.0f}", runs, whole), coverage.shares);
    }
  }
}

TEST(TimeModel, NoSamplesAreTimeZeroAndAPositiveHighEnd) {
  for (const size_t runs : {1u, 2u, 5u}) {
    const model::CombinedTree tree =
        TreeOf({std::vector<double>(runs, 1000), std::vector<double>(runs)});
    const model::TimeModel model(tree);
    for (const model::Estimate& none :
         {model.Of(std::vector<double>(runs)), model.ShareOf(std::vector<double>(runs))}) {
      EXPECT_EQ(none.value, 0);
      EXPECT_EQ(none.low, 0);
      EXPECT_GT(none.high, 0);
    }
    // Of five runs one sample less is known to be less.
    EXPECT_NEAR(model.Of(std::vector<double>(runs)).high,
                3.84 * kPeriod / static_cast<double>(runs), 0.01 * kPeriod);
  }
}

TEST(TimeModel, WithoutAnySampleEverythingIsPossible) {
  const model::CombinedTree tree = TreeOf({{0, 0}});
  const model::TimeModel model(tree);
  EXPECT_EQ(model.Of(std::vector<double>{0, 0}).value, 0);
  const model::Estimate share = model.ShareOf(std::vector<double>{0, 0});
  EXPECT_EQ(share.value, 0);
  EXPECT_EQ(share.high, 1);
  EXPECT_EQ(model.relative_share(), 0);  // nothing is known: nothing was sampled
}

TEST(TimeModel, OneRunHasTheIntervalOfItsCounts) {
  const model::CombinedTree tree = TreeOf({{900}, {100}});
  const model::TimeModel model(tree);
  EXPECT_FALSE(model.knows_runs());
  const model::Estimate time = model.Of(std::vector<double>{100});
  const model::Estimate counts = model::Poisson(100);
  EXPECT_DOUBLE_EQ(time.value, 100 * kPeriod);
  EXPECT_DOUBLE_EQ(time.low, counts.low * kPeriod);
  EXPECT_DOUBLE_EQ(time.high, counts.high * kPeriod);
  EXPECT_DOUBLE_EQ(model.ShareOf(std::vector<double>{100}).high, model::Wilson(100, 1000).high);
}

// Runs may be sampled at different rates: each sample stands for its run's period.
TEST(TimeModel, TheValueIsTheMeanTimeOfTheRuns) {
  model::CombinedTree tree = TreeOf({{1000, 500}, {200, 100}});
  tree.period_ns = {1e6, 2e6};
  const model::TimeModel model(tree);
  EXPECT_DOUBLE_EQ(model.Of(std::vector<double>{200, 100}).value, 200e6);
  EXPECT_DOUBLE_EQ(model.ShareOf(std::vector<double>{200, 100}).value, 1 / 6.0);
  // The runs took the same time: what is left is the usual spread between runs.
  EXPECT_NEAR(model.relative_total(),
              model::kUsualSpread * std::sqrt(model::kPriorRuns / (model::kPriorRuns + 1)), 1e-9);
}

TEST(TimeModel, TheShareOfTheWholeIsOne) {
  const model::CombinedTree tree = TreeOf({{900, 1000}, {100, 300}});
  const model::TimeModel model(tree);
  const model::Estimate share = model.ShareOf(std::vector<double>{1000, 1300});
  EXPECT_EQ(share.value, 1);
  EXPECT_EQ(share.high, 1);
  EXPECT_GT(share.low, 0.99);
  EXPECT_GT(model.relative_share(), 1.5 * model::kUsualSpread);
}

}  // namespace
}  // namespace jprof::reports
