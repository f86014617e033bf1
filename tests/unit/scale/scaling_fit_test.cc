// Laws with known exponents, with the terms of lower order that real counts have.
#include "model/scale/scaling_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace jprof::model {
namespace {

using Form = Scaling::Form;
using Law = std::function<double(double)>;

constexpr double kExact = 0.05;  // how far an exponent may be off

std::vector<double> Counts(const std::vector<double>& sizes, const Law& law) {
  std::vector<double> counts;
  for (const double n : sizes) counts.push_back(std::round(law(n)));
  return counts;
}

Scaling Fit(const std::vector<double>& sizes, const Law& law) {
  const auto fit = FitCounts(sizes, Counts(sizes, law));
  EXPECT_TRUE(fit);
  return fit.value_or(Scaling{});
}

const std::vector<std::vector<double>> kSizes = {{1000, 2000, 4000, 8000},
                                                 {100, 200, 400, 800},
                                                 {100, 1000, 10'000},
                                                 {25, 50, 100, 200},
                                                 {30, 70, 100, 250, 300}};

TEST(ScalingFit, FindsPowersWithTermsOfLowerOrder) {
  const std::vector<std::pair<double, Law>> laws = {
      {1, [](double n) { return n; }},
      {1, [](double n) { return 3 * n + 7; }},
      {1, [](double n) { return n - 1; }},
      {2, [](double n) { return n * n; }},
      {2, [](double n) { return n * (n - 1) / 2; }},
      {2, [](double n) { return n * (n + 1) / 2; }},
      {3, [](double n) { return n * n * n; }},
      {3, [](double n) { return n * (n - 1) * (n - 2) / 6; }},
      {1.5, [](double n) { return 100 * n * std::sqrt(n); }},
      {0.5, [](double n) { return 1000 * std::sqrt(n); }},
      {-1, [](double n) { return 1e7 / n; }},
  };
  for (size_t law = 0; law < laws.size(); ++law) {
    for (const auto& sizes : kSizes) {
      const Scaling fit = Fit(sizes, laws[law].second);
      EXPECT_EQ(fit.form, Form::kPower) << law << " from " << sizes[0];
      EXPECT_NEAR(fit.exponent, laws[law].first, kExact) << law << " from " << sizes[0];
    }
  }
}

TEST(ScalingFit, FindsLogarithms) {
  const auto sort = [](double n) { return n * std::log2(n) - 1.26 * n; };
  const std::vector<std::pair<int, Law>> laws = {
      {1, [](double n) { return n * std::log2(n); }},
      {1, sort},
      {0, [](double n) { return 1000 * (std::log2(n) + 1); }},
      {2, [](double n) { return n * n * std::log2(n); }},
  };
  for (size_t law = 0; law < laws.size(); ++law) {
    for (const auto& sizes : kSizes) {
      const Scaling fit = Fit(sizes, laws[law].second);
      EXPECT_EQ(fit.form, Form::kLogarithmic) << law << " from " << sizes[0];
      EXPECT_EQ(fit.log_power(), laws[law].first) << law;
      const double largest = sizes.back();
      const double truth = std::log(laws[law].second(largest) / laws[law].second(sizes[0])) /
                           std::log(largest / sizes[0]);
      EXPECT_NEAR(fit.exponent, truth, 0.01) << law << " from " << sizes[0];
      EXPECT_NEAR(fit.At(10 * largest) / laws[law].second(10 * largest), 1, 0.01) << law;
    }
  }
}

TEST(ScalingFit, APowerNearTheLogarithmStaysAPower) {
  for (const double k : {1.05, 1.1, 1.15, 1.2}) {
    const Scaling fit = Fit(kSizes[0], [k](double n) { return 1000 * std::pow(n, k); });
    EXPECT_EQ(fit.form, Form::kPower) << k;
    EXPECT_NEAR(fit.exponent, k, 0.001);
  }
}

TEST(ScalingFit, SeparatesAConstantPartFromFourSizesOn) {
  const Law linear = [](double n) { return 3000 + n; };
  EXPECT_NEAR(Fit({1000, 2000, 4000, 8000}, linear).exponent, 1, 0.001);
  EXPECT_LT(Fit({1000, 2000, 4000}, linear).exponent, 0.6);
  const Scaling sort =
      Fit({1000, 2000, 4000, 8000, 16'000}, [](double n) { return 50'000 + n * std::log2(n); });
  EXPECT_EQ(sort.form, Form::kLogarithmic);
  EXPECT_EQ(sort.log_power(), 1);
  EXPECT_NEAR(Fit({100, 200, 400, 800}, [](double n) { return 500'000 + n * n; }).exponent, 2,
              0.001);
}

TEST(ScalingFit, ConstantsDoNotGrow) {
  for (const auto& counts : std::vector<std::vector<double>>{
           {1, 1, 1, 1}, {777, 777, 777, 777}, {1000, 1003, 999, 1020}}) {
    const auto fit = FitCounts(kSizes[0], counts);
    ASSERT_TRUE(fit);
    EXPECT_EQ(fit->form, Form::kConstant);
    EXPECT_EQ(fit->exponent, 0);
    EXPECT_NEAR(fit->At(80'000) / counts.back(), 1, 0.03);
  }
}

TEST(ScalingFit, ChanceInTheProgramMovesTheExponentLittle) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(1, 0.01);
  for (int i = 0; i < 500; ++i) {
    const Scaling fit = Fit(kSizes[0], [&](double n) { return noise(random) * n * std::log(n); });
    EXPECT_NEAR(fit.exponent, 1.118, 0.1);
  }
}

TEST(ScalingFit, SizesWithoutCountsAreLeftOut) {
  const std::vector<double> sizes = {10, 20, 40};
  EXPECT_FALSE(FitCounts(sizes, std::vector<double>{0, 0, 0}));
  EXPECT_FALSE(FitCounts(sizes, std::vector<double>{0, 0, 9}));
  const auto fit = FitCounts(sizes, std::vector<double>{0, 20, 40});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->exponent, 1, 1e-9);
}

TEST(ScalingFit, IrregularCountsHaveAMisfit) {
  const auto fit = FitCounts(kSizes[0], std::vector<double>{10, 4000, 20, 9000});
  ASSERT_TRUE(fit);
  EXPECT_GT(fit->misfit, 0.5);
}

TEST(ScalingFit, TimesHaveAnInterval) {
  EXPECT_FALSE(FitTimes(std::vector<SizedTime>{{100, 5, 0.1}}));
  EXPECT_FALSE(TimeAt(100, {0, 0, 3}));
  std::mt19937 random(3);
  int held = 0;
  constexpr int kDraws = 2000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<SizedTime> times;
    for (const double n : {100, 200, 400, 800}) {
      const double deviation = 20 / n;
      times.push_back(
          {n, 3 * n * n * std::exp(std::normal_distribution(0.0, deviation)(random)), deviation});
    }
    const auto fit = FitTimes(times);
    ASSERT_TRUE(fit);
    EXPECT_NEAR(fit->value, 2, 0.5);
    held += fit->Holds(2);
  }
  EXPECT_GT(static_cast<double>(held) / kDraws, 0.93);
}

}  // namespace
}  // namespace jprof::model
