// The accounts of IDLE and WALL.
#include "jprof/agent/sampling/idle_account.h"

#include <gtest/gtest.h>

#include <vector>

namespace jprof::agent {
namespace {

constexpr int64_t kMs = 1'000'000;

IdleTick Tick(int64_t ticks, bool wall = false, uint32_t run = 1) {
  return {.period_ns = 20 * kMs, .passed_ns = ticks * 20 * kMs, .counts_running = wall, .run = run};
}

// Adds a tick to the account of a thread that has been recorded for a long time.
int64_t Add(IdleAccount& account, const IdleTick& tick, uint64_t cpu_ns) {
  return account.Add(tick, cpu_ns, 1000 * kMs);
}

TEST(IdleAccount, AnIdleThreadAccumulatesOneSamplePerPeriod) {
  IdleAccount account;
  EXPECT_EQ(Add(account, Tick(1), 0), 1);
  account.Subtract(Tick(1), 1);
  EXPECT_EQ(Add(account, Tick(3), 0), 3) << "a late tick counts several periods";
}

TEST(IdleAccount, WhatIsNotSubtractedAccumulates) {
  IdleAccount account;
  EXPECT_EQ(Add(account, Tick(1), 0), 1);
  EXPECT_EQ(Add(account, Tick(1), 0), 2);
  account.Subtract(Tick(1), 2);
  EXPECT_EQ(Add(account, Tick(1), 0), 1);
}

TEST(IdleAccount, CpuTimeIsNotIdle) {
  IdleAccount account;
  Add(account, Tick(1), 0);
  account.Subtract(Tick(1), 1);
  EXPECT_EQ(Add(account, Tick(1), 8 * kMs), 0) << "12 ms are below the period";
  EXPECT_EQ(Add(account, Tick(1), 12 * kMs), 1) << "12 + 16 ms";
}

TEST(IdleAccount, AThreadThatRanForMostOfTheTickIsNotSignalled) {
  IdleAccount account;
  Add(account, Tick(1), 0);
  EXPECT_EQ(Add(account, Tick(1), 11 * kMs), 0) << "29 ms are due, but it is likely to run now";
  EXPECT_EQ(Add(account, Tick(1), 11 * kMs), 2) << "49 ms";
}

TEST(IdleAccount, WallCountsCpuTime) {
  IdleAccount account;
  EXPECT_EQ(Add(account, Tick(1, true), 20 * kMs), 1);
  account.Subtract(Tick(1, true), 1);
  EXPECT_EQ(Add(account, Tick(1, true), 40 * kMs), 1);
}

TEST(IdleAccount, EarlyAndLateTicksBalance) {
  IdleAccount account;
  Add(account, Tick(1), 0);
  account.Subtract(Tick(1), 1);
  // A thread that runs all the time, with ticks after 25 and 15 ms instead of 20 and 20.
  EXPECT_EQ(Add(account, Tick(1), 25 * kMs), 0);
  EXPECT_EQ(Add(account, Tick(1), 40 * kMs), 0);
  EXPECT_EQ(Add(account, Tick(1), 40 * kMs), 1) << "exactly one idle period since";
}

TEST(IdleAccount, ANewRunDiscardsEarlierTime) {
  IdleAccount account;
  Add(account, Tick(5), 0);
  EXPECT_EQ(Add(account, Tick(1, false, 2), 0), 1);
  // CPU time of a pause is subtracted only up to the length of the tick.
  EXPECT_EQ(Add(account, Tick(1, false, 3), 900 * kMs), 0);
  EXPECT_EQ(Add(account, Tick(1, false, 3), 900 * kMs), 1);
}

TEST(IdleAccount, ANewThreadHasNoTimeBeforeItsStart) {
  IdleAccount account;
  EXPECT_EQ(account.Add(Tick(8), 0, 30 * kMs), 1) << "the tick was late; the thread is new";
  account.Subtract(Tick(8), 1);
  EXPECT_EQ(account.Add(Tick(1), 0, 50 * kMs), 1) << "10 + 20 ms";
  IdleAccount busy;
  EXPECT_EQ(busy.Add(Tick(8), 29 * kMs, 30 * kMs), 0) << "it ran for most of its time";
}

// Which of `threads` equally idle threads are signalled in a tick.
std::vector<int> OneTick(Rotation& rotation, int threads) {
  std::vector<int> signalled;
  for (int i = 0; i < threads; ++i) {
    if (!rotation.Next()) continue;
    rotation.Signalled();
    signalled.push_back(i);
  }
  rotation.EndTick();
  return signalled;
}

TEST(Rotation, SignalsAllThreads) {
  Rotation rotation(2);
  EXPECT_EQ(OneTick(rotation, 5), (std::vector{0, 1}));
  EXPECT_EQ(OneTick(rotation, 5), (std::vector{2, 3}));
  EXPECT_EQ(OneTick(rotation, 5), (std::vector{4})) << "the next tick begins at the first";
  EXPECT_EQ(OneTick(rotation, 5), (std::vector{0, 1}));
}

TEST(Rotation, BelowTheLimitAllAreSignalledInEachTick) {
  Rotation rotation(2);
  EXPECT_EQ(OneTick(rotation, 1), (std::vector{0}));
  EXPECT_EQ(OneTick(rotation, 2), (std::vector{0, 1}));
  EXPECT_EQ(OneTick(rotation, 2), (std::vector{0, 1}));
}

TEST(Rotation, ThreadsThatEndDoNotStopIt) {
  Rotation rotation(2);
  OneTick(rotation, 5);
  EXPECT_EQ(OneTick(rotation, 1), (std::vector<int>{}));
  EXPECT_EQ(OneTick(rotation, 1), (std::vector{0}));
}

}  // namespace
}  // namespace jprof::agent
