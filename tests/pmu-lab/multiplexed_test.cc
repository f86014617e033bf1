// Tests more events than the PMU of the lab has counters: they are multiplexed, scaled, and marked.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <span>
#include <vector>

#include "tests/pmu-lab/loop.h"

namespace jprof::pmu_lab {
namespace {

// Like `jprof stat` without permission to watch CPUs: each event is opened separately.
TEST(Multiplexed, AnInheritedEventThatTakesTurnsHasNoExactCount) {
  const std::vector<ptm::EventSpec> events(ptm::kMaxEvents, kInstructions);
  for (const size_t count : {size_t{2}, events.size()}) {
    ptm::EventGroup group;
    const std::span<const ptm::EventSpec> some(events.data(), count);
    ASSERT_FALSE(group.Open(some, {.inherit = true, .on_exec = true}).Failed());
    const pid_t program = fork();
    if (program == 0) {
      execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done", nullptr);
      _exit(127);
    }
    ASSERT_GT(program, 0);
    int status = 0;
    ASSERT_EQ(waitpid(program, &status, 0), program);
    ASSERT_EQ(status, 0);
    int exact = 0;
    for (int i = 0; i < group.size(); ++i) {
      ASSERT_TRUE(group.Reading(i));
      exact += ptm::ExactCount({}, *group.Reading(i)).has_value();
    }
    EXPECT_EQ(exact == group.size(), count == 2) << exact << " of " << count;
  }
}

// The same event eight times, so that each scaled value can be compared with the known one.
TEST(Multiplexed, EventsTakeTurnsAreScaledAndMarked) {
  const std::vector<ptm::EventSpec> events(ptm::kMaxEvents, kInstructions);
  ptm::EventGroup group;
  ASSERT_FALSE(group.Open(events).Failed());
  constexpr uint64_t kTurns = 400'000'000;
  std::vector<int64_t> before(events.size()), after(events.size());
  group.ReadAll(before.data());
  Turn(kTurns);
  group.ReadAll(after.data());
  int marked = 0;
  for (int i = 0; i < group.size(); ++i) {
    const double running = group.Status(i).running;
    const auto counted = static_cast<double>(after[i] - before[i]);
    printf("lab: event %d was on a counter %.0f %% of the time: %.4f of the true count\n", i,
           running * 100, counted / (kTurns * kPerTurn));
    marked += running < 1;
    EXPECT_GT(running, 0.1);
    EXPECT_NEAR(counted / (kTurns * kPerTurn), 1, 0.1);
  }
  EXPECT_GE(marked, 2);
}

TEST(Multiplexed, AsManyAsThereAreCountersAreNot) {
  const std::vector<ptm::EventSpec> events(6, kInstructions);
  ptm::EventGroup group;
  ASSERT_FALSE(group.Open(events).Failed());
  const int64_t before = ptm::Read(group.slot(5));
  Turn(50'000'000);
  EXPECT_NEAR(static_cast<double>(ptm::Read(group.slot(5)) - before), 50e6 * kPerTurn, 2000);
  for (int i = 0; i < group.size(); ++i) EXPECT_EQ(group.Status(i).running, 1) << i;
}

}  // namespace
}  // namespace jprof::pmu_lab
