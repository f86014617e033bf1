#include "calibrate/train/estimate.h"

#include <gtest/gtest.h>

namespace jprof::calibrate {
namespace {

Key K(const char* text) { return *ParseKey(text); }

TEST(Estimate, IsTheMeanAndSpreadOfQuantisedSamples) {
  // A true 39 ticks on a clock of 26: half the deltas 26, half 52.
  std::vector<uint32_t> samples;
  for (int i = 0; i < 500; ++i) samples.insert(samples.end(), {26, 52});
  const Typical typical = Estimate(samples, 26);
  EXPECT_EQ(typical.count, 1000u);
  EXPECT_DOUBLE_EQ(typical.mean, 39);
  EXPECT_DOUBLE_EQ(typical.spread, 13);
  EXPECT_EQ(typical.minimum, 26);
}

TEST(Estimate, CutsWhatAnInterruptHit) {
  std::vector<uint32_t> samples(1000, 30);
  samples.insert(samples.end(), {50'000, 2'000'000});
  const Typical typical = Estimate(samples, 1);
  EXPECT_EQ(typical.cut, 2u);
  EXPECT_DOUBLE_EQ(typical.mean, 30);
  EXPECT_DOUBLE_EQ(typical.spread, 0);
}

TEST(Estimate, AMedianOfZeroKeepsSingleSteps) {
  std::vector<uint32_t> samples(900, 0);
  samples.insert(samples.end(), 100, 26);
  EXPECT_DOUBLE_EQ(Estimate(samples, 26).mean, 2.6);
}

TEST(Estimate, NothingIsNothing) { EXPECT_EQ(Estimate({}, 26).count, 0u); }

TEST(Solve, FindsWhatTheEquationsDetermine) {
  // x + y = 30, x - y = 4, whatever the start.
  const Key x = K("En-J-En-J"), y = K("En-J-Ex-J");
  const Problem problem{.equations = {{{{x, 1}, {y, 1}}, 30}, {{{x, 1}, {y, -1}}, 4}},
                        .start = {{x, 100}, {y, 1}}};
  const auto values = Solve(problem);
  EXPECT_NEAR(values.at(x), 17, 1e-6);
  EXPECT_NEAR(values.at(y), 13, 1e-6);
}

TEST(Solve, KeepsTheStartsDifferenceWhereOnlyASumIsKnown) {
  const Key x = K("En-J-En-J"), y = K("En-J-Ex-J");
  const auto values = Solve({.equations = {{{{x, 1}, {y, 1}}, 30}}, .start = {{x, 12}, {y, 8}}});
  EXPECT_NEAR(values.at(x), 17, 1e-6);
  EXPECT_NEAR(values.at(y), 13, 1e-6);
}

TEST(Solve, StaysBelowTheCeiling) {
  const Key x = K("En-J-En-J"), y = K("En-J-Ex-J");
  const auto values =
      Solve({.equations = {{{{x, 1}, {y, 1}}, 30}}, .ceiling = {{y, 5}}, .fallback = 10});
  EXPECT_NEAR(values.at(x), 25, 1e-3);
  EXPECT_NEAR(values.at(y), 5, 1e-3);
}

TEST(Solve, MakesACompromiseOfContradictions) {
  const Key x = K("En-J-En-J");
  const auto values = Solve({.equations = {{{{x, 1}}, 10}, {{{x, 1}}, 20}}});
  EXPECT_NEAR(values.at(x), 15, 0.5);
}

TEST(Solve, KeysInNoEquationKeepTheirStart) {
  const Key x = K("En-J-En-J");
  EXPECT_EQ(Solve({.start = {{x, 7}}}).at(x), 7);
}

}  // namespace
}  // namespace jprof::calibrate
