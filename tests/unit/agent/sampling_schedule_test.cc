#include "jprof/agent/sampling/sampling_schedule.h"

#include <gtest/gtest.h>

namespace jprof::agent {
namespace {

constexpr uint64_t kMillisecond = 1'000'000, kSecond = 1'000 * kMillisecond;
constexpr uint64_t kBegin = 7 * kSecond;

options::AgentOptions OptionsOf(std::string_view text) {
  const auto options = options::ParseAgentOptions(text, "");
  EXPECT_TRUE(options) << text << ": " << options.error().message;
  return *options;
}

TEST(SamplingSchedule, WakesEveryTenMillisecondsOrEarlierForATrigger) {
  SamplingSchedule timers(OptionsOf("scs"), kBegin);
  EXPECT_TRUE(timers.triggers().empty());
  EXPECT_EQ(timers.NextWake(kBegin), kBegin + 10 * kMillisecond);
  SamplingSchedule idle(OptionsOf("scs=IDLE=4"), kBegin);
  ASSERT_EQ(idle.triggers().size(), 1u);
  EXPECT_EQ(idle.NextWake(kBegin), kBegin) << "the first tick is due immediately";
  EXPECT_EQ(idle.TakeTicks(idle.triggers()[0], kBegin), 1u);
  EXPECT_EQ(idle.NextWake(kBegin), kBegin + 4 * kMillisecond);
}

TEST(SamplingSchedule, OnlyIdleAndWallAreItsTriggers) {
  SamplingSchedule schedule(OptionsOf("scs=TIME=1000000+WALL=30+CLASS_LOAD+IDLE=20"), kBegin);
  ASSERT_EQ(schedule.triggers().size(), 2u);
  EXPECT_EQ(schedule.triggers()[0].index, 1u);
  EXPECT_TRUE(schedule.triggers()[0].counts_running);
  EXPECT_EQ(schedule.triggers()[0].period_ns, 30 * kMillisecond);
  EXPECT_EQ(schedule.triggers()[1].index, 3u);
  EXPECT_FALSE(schedule.triggers()[1].counts_running);
}

TEST(SamplingSchedule, LateTicksAreNotLost) {
  SamplingSchedule schedule(OptionsOf("scs=IDLE=20"), kBegin);
  auto& idle = schedule.triggers()[0];
  EXPECT_EQ(schedule.TakeTicks(idle, kBegin), 1u);
  EXPECT_EQ(schedule.TakeTicks(idle, kBegin + 19 * kMillisecond), 0u);
  EXPECT_EQ(schedule.TakeTicks(idle, kBegin + 65 * kMillisecond), 3u);
  EXPECT_EQ(schedule.TakeTicks(idle, kBegin + 79 * kMillisecond), 0u) << "the grid is kept";
  EXPECT_EQ(schedule.TakeTicks(idle, kBegin + 80 * kMillisecond), 1u);
}

TEST(SamplingSchedule, LooksOnceASecond) {
  SamplingSchedule schedule(OptionsOf("scs"), kBegin);
  EXPECT_FALSE(schedule.LookIsDue(kBegin + kSecond - 1));
  EXPECT_TRUE(schedule.LookIsDue(kBegin + kSecond));
  EXPECT_FALSE(schedule.LookIsDue(kBegin + 2 * kSecond - 1));
  EXPECT_TRUE(schedule.LookIsDue(kBegin + 5 * kSecond));
}

TEST(SamplingSchedule, DelayStartsOnce) {
  SamplingSchedule schedule(OptionsOf("scs,delay=2"), kBegin);
  EXPECT_FALSE(schedule.StartIsDue(kBegin + 2 * kSecond - 1));
  EXPECT_TRUE(schedule.StartIsDue(kBegin + 2 * kSecond));
  EXPECT_FALSE(schedule.StartIsDue(kBegin + 9 * kSecond));
}

TEST(SamplingSchedule, WithoutDelayOrWithNostartItDoesNotStart) {
  for (const char* text : {"scs", "scs,nostart", "scs,nostart,delay=1"}) {
    SamplingSchedule schedule(OptionsOf(text), kBegin);
    EXPECT_FALSE(schedule.StartIsDue(kBegin + 100 * kSecond)) << text;
  }
}

TEST(SamplingSchedule, DurationCountsFromTheStart) {
  SamplingSchedule schedule(OptionsOf("scs,nostart,duration=3"), kBegin);
  EXPECT_FALSE(schedule.StopIsDue(kBegin + 10 * kSecond, false));
  EXPECT_FALSE(schedule.StopIsDue(kBegin + 20 * kSecond, true)) << "it begins here";
  EXPECT_FALSE(schedule.StopIsDue(kBegin + 23 * kSecond - 1, true));
  EXPECT_TRUE(schedule.StopIsDue(kBegin + 23 * kSecond, true));
  EXPECT_FALSE(schedule.StopIsDue(kBegin + 90 * kSecond, true)) << "only once";
}

TEST(SamplingSchedule, WithoutDurationItDoesNotStop) {
  SamplingSchedule schedule(OptionsOf("scs"), kBegin);
  EXPECT_FALSE(schedule.StopIsDue(kBegin, true));
  EXPECT_FALSE(schedule.StopIsDue(kBegin + 1'000'000 * kSecond, true));
}

TEST(SamplingSchedule, ModulesAreLookedForAtMostEveryFifthOfASecond) {
  SamplingSchedule schedule(OptionsOf("scs"), kBegin);
  EXPECT_FALSE(schedule.RefreshIsDue(kBegin + 199 * kMillisecond));
  EXPECT_TRUE(schedule.RefreshIsDue(kBegin + 200 * kMillisecond));
  EXPECT_TRUE(schedule.RefreshIsDue(kBegin + 300 * kMillisecond)) << "until it was done";
  schedule.Refreshed(kBegin + 300 * kMillisecond);
  EXPECT_FALSE(schedule.RefreshIsDue(kBegin + 499 * kMillisecond));
  EXPECT_TRUE(schedule.RefreshIsDue(kBegin + 500 * kMillisecond));
}

}  // namespace
}  // namespace jprof::agent
