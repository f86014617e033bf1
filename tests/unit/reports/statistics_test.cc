// Intervals against the slow way: draw from a known truth many times and count how often the
// interval holds it.
#include "model/values/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace jprof::reports {
namespace {

constexpr int kDraws = 4000;

double Covered(const auto& draw_and_check) {
  int held = 0;
  for (int i = 0; i < kDraws; ++i) held += draw_and_check();
  return static_cast<double>(held) / kDraws;
}

TEST(Statistics, WilsonHoldsTheTruth95TimesIn100) {
  std::mt19937 random(1);
  for (const double truth : {0.005, 0.05, 0.3, 0.5, 0.9}) {
    for (const int trials : {100, 1000, 10000}) {
      std::binomial_distribution<int> hits(trials, truth);
      const double held = Covered([&] { return model::Wilson(hits(random), trials).Holds(truth); });
      EXPECT_GT(held, 0.90) << truth << " of " << trials;
      EXPECT_LT(held, 0.99) << truth << " of " << trials;
    }
  }
}

TEST(Statistics, PoissonHoldsTheTruth) {
  std::mt19937 random(2);
  for (const double truth : {2.0, 10.0, 400.0}) {
    std::poisson_distribution<int> count(truth);
    const double held = Covered([&] { return model::Poisson(count(random)).Holds(truth); });
    EXPECT_GT(held, 0.92) << truth;
    EXPECT_LT(held, 0.985) << truth;
  }
}

TEST(Statistics, ChangeHoldsTheTruth) {
  std::mt19937 random(3);
  const std::pair<double, double> shares[] = {{0.1, 0.1}, {0.01, 0.02}, {0.3, 0.25}, {0.002, 0.5}};
  for (const auto& [a, b] : shares) {
    std::binomial_distribution<int> hits_a(800, a), hits_b(3000, b);
    const double held = Covered([&] {
      return model::Change(model::Wilson(hits_a(random), 800), model::Wilson(hits_b(random), 3000))
          .Holds(b - a);
    });
    EXPECT_GT(held, 0.92) << a << " " << b;
    EXPECT_LT(held, 0.985) << a << " " << b;
  }
}

TEST(Statistics, EndsStayInside) {
  EXPECT_EQ(model::Wilson(0, 50).low, 0);
  EXPECT_GT(model::Wilson(0, 50).high, 0.05);
  EXPECT_EQ(model::Wilson(50, 50).high, 1);
  EXPECT_EQ(model::Wilson(0, 0).high, 1);
  EXPECT_EQ(model::Poisson(0).low, 0);
  EXPECT_TRUE(model::Change({0, 0, 1}, {1, 1, 1}).Holds(1));
}

// Rank by counting who is below: the definition.
double SlowRankCorrelation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto rank = [](const std::vector<double>& of, size_t i) {
    const double below =
        static_cast<double>(std::ranges::count_if(of, [&](double x) { return x < of[i]; }));
    return below + static_cast<double>(std::ranges::count(of, of[i]) - 1) / 2;
  };
  double n = static_cast<double>(a.size()), ab = 0, aa = 0, bb = 0, sa = 0, sb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = rank(a, i), y = rank(b, i);
    ab += x * y, aa += x * x, bb += y * y, sa += x, sb += y;
  }
  return (n * ab - sa * sb) / std::sqrt((n * aa - sa * sa) * (n * bb - sb * sb));
}

TEST(Statistics, RankCorrelationIsWhatTheDefinitionSays) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> a, b;
    for (size_t i = 0; i < 3 + random() % 20; ++i) {
      a.push_back(static_cast<double>(random() % 9));
      b.push_back(static_cast<double>(random() % 9));
    }
    const double slow = SlowRankCorrelation(a, b);
    const double fast = model::RankCorrelation(a, b);
    if (std::isnan(slow)) {
      EXPECT_TRUE(std::isnan(fast));
    } else {
      EXPECT_NEAR(fast, slow, 1e-9);
    }
  }
  EXPECT_NEAR(model::RankCorrelation({1, 2, 3}, {10, 20, 90}), 1, 1e-12);
  EXPECT_NEAR(model::RankCorrelation({1, 2, 3}, {9, 5, 1}), -1, 1e-12);
  EXPECT_TRUE(std::isnan(model::RankCorrelation({1, 2}, {1, 2})));
  EXPECT_TRUE(std::isnan(model::RankCorrelation({1, 1, 1}, {1, 2, 3})));
}

TEST(Statistics, RelativeChangesOfExactValuesAreExact) {
  const auto change = [](double a, double b) {
    return model::RelativeChange({a, a, a}, {b, b, b});
  };
  for (const auto& [a, b, expected] :
       {std::array{100.0, 100.0, 0.0}, std::array{100.0, 105.0, 0.05},
        std::array{3e15, 3e15 + 1, 1 / 3e15}, std::array{100.0, 0.0, -1.0},
        std::array{0.0, 0.0, 0.0}}) {
    const model::Estimate found = change(a, b);
    EXPECT_NEAR(found.value, expected, 1e-15) << a << " " << b;
    EXPECT_NEAR(found.low, expected, 1e-15) << a << " " << b;
    EXPECT_NEAR(found.high, expected, 1e-15) << a << " " << b;
  }
  EXPECT_TRUE(std::isinf(change(0, 5).low));
}

TEST(Statistics, RelativeChangesHoldTheTruth) {
  std::mt19937 random(11);
  for (const auto& [before, after] :
       {std::pair{200, 200}, std::pair{400, 300}, std::pair{50, 80}}) {
    std::poisson_distribution<int> a(before), b(after);
    const double truth = static_cast<double>(after) / before - 1;
    const double held = Covered([&] {
      return model::RelativeChange(model::Poisson(a(random)), model::Poisson(b(random)))
          .Holds(truth);
    });
    EXPECT_GT(held, 0.92) << truth;
    EXPECT_LT(held, 0.98) << truth;
  }
}

}  // namespace
}  // namespace jprof::reports
