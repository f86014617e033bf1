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

// Numbers of 600 contexts: counts of a process that is `dispersion` times as irregular as a Poisson
// process, of means that differ between runs.
model::RunSamples SpreadCounts(unsigned seed, size_t runs, double relative, double dispersion = 1) {
  std::mt19937 random(seed);
  model::RunSamples of = {.runs = runs};
  for (int context = 0; context < 600; ++context) {
    const double mean = 20 * std::pow(200, std::uniform_real_distribution(0.0, 1.0)(random));
    for (size_t run = 0; run < runs; ++run)
      of.samples.push_back(dispersion *
                           Count(random, mean / dispersion * Factor(random, relative)));
  }
  return of;
}

TEST(Variation, IsThatOfTheRuns) {
  for (const size_t runs : {2u, 3u, 5u}) {
    for (const double relative : {0.05, 0.1, 0.3}) {
      const double found = model::SpreadOf(SpreadCounts(1, runs, relative)).relative;
      EXPECT_NEAR(found / relative, 1, 0.15) << runs << " runs, " << relative;
    }
  }
}

TEST(Variation, TellsTheSpreadFromTheDispersion) {
  for (const double dispersion : {0.25, 1.0, 3.0}) {
    const model::Variation found = model::VariationOf(SpreadCounts(2, 3, 0.1, dispersion));
    EXPECT_NEAR(found.dispersion / dispersion, 1, 0.25) << dispersion;
    EXPECT_NEAR(found.relative, 0.1, 0.02) << dispersion;
    EXPECT_EQ(found.contexts, 600u);
  }
}

TEST(Variation, IsNearlyThatOfChanceAlone) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    for (const size_t runs : {2u, 5u}) {
      EXPECT_LT(model::SpreadOf(SpreadCounts(seed, runs, 0)).relative, 0.02);
      EXPECT_NEAR(model::VariationOf(SpreadCounts(seed, runs, 0)).dispersion, 1, 0.2);
    }
  }
}

// Whole steps of the least squares go to and fro between two results here.
TEST(Variation, IsSettled) {
  std::mt19937 random(5);
  int unsettled = 0;
  for (int trial = 0; trial < 200; ++trial) {
    model::RunSamples of = {.runs = 2};
    for (int context = 0; context < 6 + trial % 35; ++context) {
      const double mean = 5 * std::pow(100, std::uniform_real_distribution(0.0, 1.0)(random));
      for (int run = 0; run < 2; ++run)
        of.samples.push_back(0.6 * Count(random, mean / 0.6 * Factor(random, 0.1)));
    }
    const model::Variation found = model::VariationOf(of);
    // The same contexts twice show the same.
    model::RunSamples twice = of;
    twice.samples.insert(twice.samples.end(), of.samples.begin(), of.samples.end());
    const model::Variation again = model::VariationOf(twice);
    // One more step from where it ended changes nothing.
    unsettled += std::abs(again.dispersion - found.dispersion) > 0.01 * found.dispersion ||
                 std::abs(again.relative - found.relative) > 0.01 * found.relative + 1e-3;
    EXPECT_GE(found.dispersion, 0.05);
  }
  EXPECT_EQ(unsettled, 0);
}

TEST(Variation, OfNothingIsNone) {
  for (const model::RunSamples& none :
       {model::RunSamples{.runs = 2}, model::RunSamples{.runs = 2, .samples = {0, 0}}}) {
    EXPECT_EQ(model::VariationOf(none).relative, 0);
    EXPECT_EQ(model::VariationOf(none).dispersion, 1);
    EXPECT_EQ(model::VariationOf(none).contexts, 0u);
  }
  const model::Variation equal = model::VariationOf({.runs = 2, .samples = {7, 7}});
  EXPECT_EQ(equal.relative, 0);
  EXPECT_GT(equal.dispersion, 0);  // an interval never has the width 0
}

TEST(Variation, IsInProportionToWhatIsOutsideTheContext) {
  std::mt19937 random(3);
  model::RunSamples of = {.runs = 3};
  for (int context = 0; context < 600; ++context) {
    of.outside.push_back(context % 2 == 0 ? 0.4 : 0.99);
    const double mean = context % 2 == 0 ? 6000 : 100;
    for (int run = 0; run < 3; ++run)
      of.samples.push_back(Count(random, mean * Factor(random, 0.1 * of.outside.back())));
  }
  EXPECT_NEAR(model::SpreadOf(of).relative / 0.1, 1, 0.15);
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

constexpr profile::RunSpreads kUsual;

// Returns the spread that is left of a usual one after runs that showed none.
double Left(const profile::RunSpread& usual, double freedom) {
  return usual.relative * std::sqrt(usual.freedom / (usual.freedom + freedom));
}

TEST(TimeModel, FewRunsDoNotShowThatRunsAreAlike) {
  const std::vector<double> two(2, 1e6), five(5, 1e6);
  const model::CombinedTree after_two = TreeOf({two, two}), after_five = TreeOf({five, five});
  EXPECT_NEAR(model::TimeModel(after_two, kUsual).spreads().share.relative, Left(kUsual.share, 1),
              0.002);
  EXPECT_NEAR(model::TimeModel(after_five, kUsual).spreads().share.relative, Left(kUsual.share, 4),
              0.002);
  EXPECT_LT(model::TimeModel(after_five, kUsual).total_arm(),
            0.8 * model::TimeModel(after_two, kUsual).total_arm());
}

// What earlier profiles of the machine showed makes intervals narrower or wider.
TEST(TimeModel, EarlierProfilesCount) {
  const std::vector<double> runs = {1e6, 1e6};
  const model::CombinedTree tree = TreeOf({runs, runs});
  const profile::RunSpreads quiet = {.total = {0.005, 30}, .share = {0.01, 30}};
  const profile::RunSpreads busy = {.total = {0.2, 30}, .share = {0.3, 30}};
  const auto half = [&](const profile::RunSpreads& usual) {
    const model::Estimate time = model::TimeModel(tree, usual).Of(runs, model::Part::kAll);
    return (time.high - time.low) / 2 / time.value;
  };
  EXPECT_LT(half(quiet), 0.03);
  EXPECT_LT(half(quiet), half(kUsual));
  EXPECT_LT(half(kUsual), half(busy));
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

// How many intervals contain what runs of the same program truly take on average.
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
    const model::TimeModel model(tree, {.total = {0.03, 3}, .share = {0.08, 2}});
    for (size_t i = 0; i < program.shares.size(); ++i) {
      if (program.shares[i] < 0.01 || program.shares[i] > 0.6) continue;
      ++coverage.contexts;
      coverage.times +=
          model.Of(samples[i], model::Part::kAll).Holds(program.shares[i] * whole * kPeriod);
      coverage.shares += model.ShareOf(samples[i], model::Part::kAll).Holds(program.shares[i]);
    }
  }
  return coverage;
}

TEST(TimeModel, IntervalsContainTheMeanOfRuns) {
  for (const size_t runs : {2u, 3u, 5u}) {
    for (const double whole : {2'000.0, 20'000.0}) {
      const Coverage coverage = Simulate(runs, whole);
      EXPECT_GE(coverage.times, 0.93 * coverage.contexts) << runs << " runs of " << whole;
      EXPECT_GE(coverage.shares, 0.93 * coverage.contexts) << runs << " runs of " << whole;
      RecordProperty(fmt::format("times_{}_{:.0f}", runs, whole), coverage.times);
      RecordProperty(fmt::format("shares_{}_{:.0f}", runs, whole), coverage.shares);
    }
  }
}

TEST(TimeModel, NoSamplesAreTimeZeroAndAPositiveHighEnd) {
  for (const size_t runs : {1u, 2u, 5u}) {
    const model::CombinedTree tree =
        TreeOf({std::vector<double>(runs, 1000), std::vector<double>(runs)});
    const model::TimeModel model(tree, kUsual);
    for (const model::Estimate& none :
         {model.Of(std::vector<double>(runs), model::Part::kAll),
          model.ShareOf(std::vector<double>(runs), model::Part::kOwn)}) {
      EXPECT_EQ(none.value, 0);
      EXPECT_EQ(none.low, 0);
      EXPECT_GT(none.high, 0);
    }
    // Of five runs one sample less is known to be less.
    EXPECT_NEAR(model.Of(std::vector<double>(runs), model::Part::kAll).high,
                3.84 * kPeriod / static_cast<double>(runs), 0.02 * kPeriod);
  }
}

TEST(TimeModel, ARunWithoutSamplesShowsNothing) {
  const model::CombinedTree tree = TreeOf({{900, 0}, {100, 0}});
  const model::TimeModel model(tree, kUsual);
  EXPECT_EQ(model.found().total.freedom, 0);
  EXPECT_EQ(model.spreads().share, kUsual.share);
  EXPECT_DOUBLE_EQ(model.ShareOf(std::vector<double>{100, 0}, model::Part::kAll).value, 0.1);
  EXPECT_DOUBLE_EQ(model.ShareOf(std::vector<double>{1000, 0}, model::Part::kAll).value, 1);
}

TEST(TimeModel, WithoutAnySampleEverythingIsPossible) {
  const model::CombinedTree tree = TreeOf({{0, 0}});
  const model::TimeModel model(tree, kUsual);
  EXPECT_EQ(model.Of(std::vector<double>{0, 0}, model::Part::kAll).value, 0);
  const model::Estimate share = model.ShareOf(std::vector<double>{0, 0}, model::Part::kAll);
  EXPECT_EQ(share.value, 0);
  EXPECT_EQ(share.high, 1);
  EXPECT_EQ(model.spreads().total, kUsual.total);  // nothing is known but what is usual
}

TEST(TimeModel, OneRunHasTheUsualDifference) {
  const model::CombinedTree tree = TreeOf({{900}, {100}});
  const model::TimeModel model(tree, kUsual);
  EXPECT_FALSE(model.knows_runs());
  EXPECT_EQ(model.found().total.freedom, 0);
  EXPECT_EQ(model.spreads().total, kUsual.total);
  const std::vector<double> samples = {100};
  const model::Estimate time = model.Of(samples, model::Part::kAll);
  const model::Estimate counts = model::Poisson(100);
  EXPECT_DOUBLE_EQ(time.value, 100 * kPeriod);
  EXPECT_LT(time.low, counts.low * kPeriod);
  EXPECT_GT(time.high, counts.high * kPeriod);
  // With nearly no difference between runs, samples are all that there is.
  const model::TimeModel alike(tree, {.total = {1e-6, 1e3}, .own_share = {1e-6, 1e3}});
  EXPECT_NEAR(alike.ShareOf(samples, model::Part::kOwn).high, model::Wilson(100, 1000).high, 1e-6);
}

// Runs may be sampled at different rates: each sample stands for its run's period.
TEST(TimeModel, TheValueIsTheMeanTimeOfTheRuns) {
  model::CombinedTree tree = TreeOf({{1000, 500}, {200, 100}});
  tree.period_ns = {1e6, 2e6};
  const model::TimeModel model(tree, kUsual);
  EXPECT_DOUBLE_EQ(model.Of(std::vector<double>{200, 100}, model::Part::kAll).value, 200e6);
  EXPECT_DOUBLE_EQ(model.ShareOf(std::vector<double>{200, 100}, model::Part::kAll).value, 1 / 6.0);
  // The runs took the same time: what is left is the usual spread between runs.
  EXPECT_NEAR(model.spreads().total.relative, Left(kUsual.total, 1), 1e-9);
}

TEST(TimeModel, TheShareOfTheWholeIsOne) {
  const model::CombinedTree tree = TreeOf({{900, 1000}, {100, 300}});
  const model::TimeModel model(tree, kUsual);
  const model::Estimate share = model.ShareOf(std::vector<double>{1000, 1300}, model::Part::kAll);
  EXPECT_EQ(share.value, 1);
  EXPECT_EQ(share.high, 1);
  EXPECT_GT(share.low, 0.99);
  EXPECT_GT(model.spreads().share.relative, 1.5 * kUsual.share.relative);
}

}  // namespace
}  // namespace jprof::reports
