// Checks the effect of directives against formulas of textbooks, computed in the obvious way.
#include "cpo/optimize/effect.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "cpo/optimize/trial_design.h"

namespace jprof::cpo {
namespace {

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double VarianceOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::pow(value - MeanOf(values), 2);
  return sum / (static_cast<double>(values.size()) - 1);
}

std::vector<ComparedRun> OneDirective(const std::vector<double>& without,
                                      const std::vector<double>& with) {
  std::vector<ComparedRun> runs;
  for (const double value : without) runs.push_back({{false}, value});
  for (const double value : with) runs.push_back({{true}, value});
  return runs;
}

TEST(Effect, OfOneDirectiveIsWelchs) {
  std::mt19937 random(1);
  std::normal_distribution<double> off(100, 5), on(60, 1);
  for (size_t trial = 0; trial < 50; ++trial) {
    std::vector<double> without, with;
    for (size_t i = 0; i < 2 + trial % 7; ++i) without.push_back(off(random));
    for (size_t i = 0; i < 2 + trial % 4; ++i) with.push_back(on(random));
    const auto effect = BenefitOf(OneDirective(without, with), 0);
    ASSERT_TRUE(effect);
    const double a = VarianceOf(without) / static_cast<double>(without.size());
    const double b = VarianceOf(with) / static_cast<double>(with.size());
    const double freedom = (a + b) * (a + b) /
                           (a * a / (static_cast<double>(without.size()) - 1) +
                            b * b / (static_cast<double>(with.size()) - 1));
    const double t = boost::math::quantile(boost::math::students_t(freedom), 0.995);
    EXPECT_NEAR(effect->value, MeanOf(without) - MeanOf(with), 1e-9);
    EXPECT_NEAR(effect->high - effect->value, t * std::sqrt(a + b), 1e-9);
    EXPECT_NEAR(effect->value - effect->low, t * std::sqrt(a + b), 1e-9);
    EXPECT_EQ(effect->runs, without.size() + with.size());
  }
}

// Computed by hand: variances 15.724 and 7.4625, so 7.94 degrees of freedom.
TEST(Effect, OfAKnownExample) {
  const auto effect =
      BenefitOf(OneDirective({27.5, 21.0, 19.0, 23.6, 17.0, 17.9}, {27.1, 22.0, 20.8, 23.4}), 0);
  ASSERT_TRUE(effect);
  EXPECT_NEAR(effect->value, -2.325, 1e-9);
  EXPECT_NEAR(effect->low, -9.447, 0.005);
  EXPECT_NEAR(effect->high, 4.797, 0.005);
}

TEST(Effect, OfExactCountsHasNoWidth) {
  const auto effect = BenefitOf(OneDirective({131074, 131074}, {258, 258}), 0);
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->low, 130816);
  EXPECT_EQ(effect->high, 130816);
}

TEST(Effect, IsUnknownForTooFewRuns) {
  EXPECT_FALSE(BenefitOf(OneDirective({1, 2, 3}, {1}), 0));
  EXPECT_FALSE(BenefitOf(OneDirective({1, 2, 3}, {}), 0));
  EXPECT_FALSE(BenefitOf({}, 0));
}

TEST(Effect, IsUnknownWhereRunsDoNotTellDirectivesApart) {
  std::vector<ComparedRun> runs;
  for (const bool on : {true, false, true, false, true, false})
    runs.push_back({{on, on}, on ? 1.0 : 2.0});
  EXPECT_FALSE(BenefitOf(runs, 0));
  EXPECT_FALSE(BenefitOf(runs, 1));
}

TEST(Effect, OfEachOfSeveralIsFoundByTheDesign) {
  const std::vector<double> truth = {100, 0, -30, 7, 55};
  std::vector<ComparedRun> runs;
  std::vector<std::vector<bool>> before;
  for (size_t i = 0; i < ArmCount(truth.size()); ++i) {
    before.push_back(ArmOf(NextArm(before, truth.size()), truth.size()));
    double figure = 1000;
    for (size_t j = 0; j < truth.size(); ++j) figure -= before.back()[j] ? truth[j] : 0;
    runs.push_back({before.back(), figure});
  }
  for (size_t j = 0; j < truth.size(); ++j) {
    const auto effect = BenefitOf(runs, j);
    ASSERT_TRUE(effect);
    EXPECT_NEAR(effect->value, truth[j], 1e-6);
    EXPECT_NEAR(effect->high - effect->low, 0, 1e-6);
  }
}

// An interval of 99 % contains the truth in 99 % of all cases.
TEST(Effect, IntervalsContainTheTruthAsOftenAsTheySay) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 10);
  const std::vector<double> truth = {20, 0, 5};
  int hits = 0, all = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<ComparedRun> runs;
    for (size_t i = 0; i < 2 * ArmCount(truth.size()); ++i) {
      const std::vector<bool> arm = ArmOf(i % ArmCount(truth.size()), truth.size());
      double figure = 1000 + noise(random);
      for (size_t j = 0; j < truth.size(); ++j) figure -= arm[j] ? truth[j] : 0;
      runs.push_back({arm, figure});
    }
    for (size_t j = 0; j < truth.size(); ++j) {
      const auto effect = BenefitOf(runs, j);
      ASSERT_TRUE(effect);
      hits += effect->low <= truth[j] && truth[j] <= effect->high ? 1 : 0;
      ++all;
    }
  }
  EXPECT_NEAR(static_cast<double>(hits) / all, 0.99, 0.005);
}

// All intervals of a life together contain the truth in 95 % of all lives.
TEST(Effect, IntervalsThatAreLookedAtAfterEachRunAreOf95Percent) {
  std::mt19937 random(8);
  std::normal_distribution<double> noise(0, 10);
  constexpr int kLives = 3000;
  int hits = 0;
  for (int life = 0; life < kLives; ++life) {
    std::vector<ComparedRun> runs;
    bool holds = true;
    for (size_t i = 0; i < 24; ++i) {
      const bool on = i % 4 == 0 || i % 4 == 3;
      runs.push_back({{on}, 1000 - (on ? 20 : 0) + noise(random)});
      const auto effect = BenefitOf(runs, 0);
      holds = holds && (!effect || (effect->low <= 20 && 20 <= effect->high));
    }
    hits += holds ? 1 : 0;
  }
  EXPECT_GE(static_cast<double>(hits) / kLives, 0.94);
  EXPECT_LE(static_cast<double>(hits) / kLives, 0.97);
}

TEST(TrialDesign, BeginsWithAllAndNoneAndIsBalanced) {
  for (size_t count = 1; count <= 8; ++count) {
    EXPECT_EQ(ArmOf(0, count), std::vector<bool>(count, true));
    EXPECT_EQ(ArmOf(1, count), std::vector<bool>(count, false));
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < count; ++j) {
        size_t both = 0;
        for (size_t arm = 0; arm < ArmCount(count); ++arm)
          both += ArmOf(arm, count)[i] && ArmOf(arm, count)[j] ? 1 : 0;
        EXPECT_EQ(both, ArmCount(count) / (i == j ? 2 : 4)) << count << " " << i << " " << j;
      }
    }
  }
}

TEST(TrialDesign, TakesTheOppositeOrderTheSecondTime) {
  std::vector<std::vector<bool>> before;
  std::string order;
  for (int i = 0; i < 8; ++i) {
    before.push_back(ArmOf(NextArm(before, 1), 1));
    order += before.back()[0] ? 'A' : 'B';
  }
  EXPECT_EQ(order, "ABBAABBA");
}

}  // namespace
}  // namespace jprof::cpo
