#include "ptm/interrupt_cost.h"

#include <gtest/gtest.h>

#include <vector>

#include "ptm/sampling_rate.h"

namespace jprof::ptm {
namespace {

TEST(InterruptCost, IsTheMedianLessAPlainReading) {
  std::vector<int64_t> ticks(99, 60'030);                 // 30 us at 2 GHz
  for (size_t i = 0; i < 20; ++i) ticks[i] = 20'000'000;  // the thread lost its processor
  for (size_t i = 20; i < 40; ++i) ticks[i] = 40;         // the expiration was next to the interval
  EXPECT_EQ(InterruptNanos(ticks, 30, 2).value(), 30'000u);
}

TEST(InterruptCost, RefusesWhatNoMachineHas) {
  const auto of = [](int64_t ns) { return InterruptNanos(std::vector<int64_t>(100, ns), 0, 1); };
  EXPECT_FALSE(of(199));
  EXPECT_EQ(of(200).value_or(0), 200u);
  EXPECT_EQ(of(500'000).value_or(0), 500'000u);
  EXPECT_FALSE(of(500'001));
  EXPECT_FALSE(of(-1));
  EXPECT_EQ(of(500'500).error().message, "500.5 us is not plausible");
}

TEST(InterruptCost, RefusesFewExpirations) {
  EXPECT_FALSE(InterruptNanos({}, 0, 1));
  EXPECT_FALSE(InterruptNanos(std::vector<int64_t>(19, 1000), 0, 1));
  EXPECT_TRUE(InterruptNanos(std::vector<int64_t>(20, 1000), 0, 1));
}

TEST(InterruptCost, IsMeasured) {
  const auto cost = MeasureInterruptNanos(200);
  if (!cost) GTEST_SKIP() << cost.error().message;
  EXPECT_GE(*cost, kLeastInterruptNs);
  EXPECT_LE(*cost, kMostInterruptNs);
}

}  // namespace
}  // namespace jprof::ptm
