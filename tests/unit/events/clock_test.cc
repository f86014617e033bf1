#include "events/runtime/clock.h"

#include <gtest/gtest.h>

namespace {

constexpr uint64_t kNow = 1'795'852'056'092'000'000;  // ns since 1970

double NanosAt(jprof_events_offset offset, uint64_t ticks, uint64_t per_second) {
  return static_cast<double>(offset.seconds) * 1e9 +
         static_cast<double>(offset.ticks + ticks) * 1e9 / static_cast<double>(per_second);
}

TEST(Clock, TheOffsetGivesTheTimeAtTheTick) {
  for (const uint64_t ticks : {uint64_t{0}, uint64_t{10'941'026'107'311}, kNow}) {
    const jprof_events_offset offset = jprof_events_offset_of(kNow, ticks, 2'445'405'475);
    EXPECT_LT(offset.ticks, 2'445'405'475u);
    EXPECT_NEAR(NanosAt(offset, ticks, 2'445'405'475), static_cast<double>(kNow), 1000);
  }
}

// A counter that began in 1970, whose frequency was measured a little too low.
TEST(Clock, TheOffsetCanBeNegative) {
  const uint64_t ticks = 112'240'753'505'750'000;
  const jprof_events_offset offset = jprof_events_offset_of(kNow, ticks, 62'499'937);
  EXPECT_EQ(offset.seconds, -1811);
  EXPECT_LT(offset.ticks, 62'499'937u);
  EXPECT_NEAR(NanosAt(offset, ticks, 62'499'937), static_cast<double>(kNow), 1000);
}

}  // namespace
