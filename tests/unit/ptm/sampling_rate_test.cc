#include "ptm/sampling_rate.h"

#include <gtest/gtest.h>

#include "ptm/cpu_sampler.h"

namespace jprof::ptm {
namespace {

TEST(SamplingRate, IsLoweredWhereThePeriodIsBelowFiveInterrupts) {
  EXPECT_EQ(LimitRate(10'000, 20'000, false).rate, 10'000u);  // 100 us, exactly five
  EXPECT_EQ(LimitRate(10'000, 20'000, false).reason, "");
  EXPECT_EQ(LimitRate(10'001, 20'000, false).rate, 10'000u);
  EXPECT_EQ(LimitRate(10'000, 20'001, false).rate, 9'900u);
  const LimitedRate lowered = LimitRate(10'000, 33'000, false);
  EXPECT_EQ(lowered.rate, 6'000u);
  EXPECT_EQ(lowered.reason,
            "sampling at 6,000/s instead of 10,000/s: an interrupt costs 33 us here");
}

// For any request and any cost, the period is at least five interrupts or the requested one.
TEST(SamplingRate, NeverIsAPeriodTooShort) {
  for (uint64_t cost = kLeastInterruptNs; cost <= kMostInterruptNs; cost += 997) {
    for (const uint64_t rate :
         {1, 100, 399, 400, 401, 1'000, 4'999, 5'000, 5'001, 10'000, 20'000}) {
      const LimitedRate limited = LimitRate(rate, cost, false);
      ASSERT_GT(limited.rate, 0u);
      ASSERT_LE(limited.rate, rate);
      ASSERT_GE(1'000'000'000, limited.rate * kLeastCosts * cost) << rate << " " << cost;
      ASSERT_EQ(limited.reason.empty(), limited.rate == rate) << rate << " " << cost;
      if (rate <= kAlwaysFineRate) {
        ASSERT_EQ(limited.rate, rate);
      }
    }
  }
}

TEST(SamplingRate, ForcedIsAsAskedFor) {
  EXPECT_EQ(LimitRate(kMostRate, kMostInterruptNs, true).rate, kMostRate);
  EXPECT_EQ(LimitRate(kMostRate, kMostInterruptNs, true).reason, "");
  EXPECT_EQ(kMostRate, 20'000u);
}

TEST(SamplingRate, ReportsWhenTheCostIsOnlyAssumed) {
  EXPECT_EQ(LimitRate(5'000, 0, false).reason, "");
  EXPECT_EQ(LimitRate(20'000, 0, false).reason,
            "sampling at 5,000/s instead of 20,000/s: an interrupt is assumed to cost 40 us here");
}

TEST(SamplingRate, OfAPeriodIsRoundedUp) {
  EXPECT_EQ(RateOf(100'000), 10'000u);
  EXPECT_EQ(RateOf(99'999), 10'001u);
  EXPECT_EQ(RateOf(kShortestClockPeriod), kMostRate);
  EXPECT_EQ(RateOf(5'000'000'000), 1u);
}

TEST(SamplingRate, ConcernsClocksAlone) {
  EXPECT_TRUE(CountsTime(CpuClock()));
  EXPECT_TRUE(CountsTime(TaskClock()));
  EXPECT_FALSE(CountsTime({"page-faults", 1, 2, 0, 0, 0}));
  EXPECT_FALSE(CountsTime({"cycles", 0, 0, 0, 0, 0}));  // the same number, of another type
}

}  // namespace
}  // namespace jprof::ptm
