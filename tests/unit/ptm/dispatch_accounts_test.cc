#include "ptm/dispatch_accounts.h"

#include <gtest/gtest.h>

namespace jprof::ptm {
namespace {

using Kind = SampleRecord::Kind;
constexpr uint64_t kStart = 1000;  // CLOCK_MONOTONIC when counting began

// A thread leaves its CPU at `at` (ns since the start), with `switches` of this CPU and `events` so
// far.
SampleRecord Leaves(uint16_t cpu, uint32_t tid, uint64_t at, uint64_t switches, uint64_t events) {
  SampleRecord record = {.cpu = cpu, .pid = tid, .tid = tid, .time = kStart + at};
  record.counted = {.enabled = at, .running = at, .size = 2, .values = {switches, events}};
  return record;
}

SampleRecord Comes(uint16_t cpu, uint32_t tid, uint64_t at) {
  return {.kind = Kind::kSwitch, .cpu = cpu, .pid = tid, .tid = tid, .time = kStart + at};
}

SampleRecord Forks(uint32_t parent, uint32_t tid, uint64_t at) {
  return {.kind = Kind::kFork,
          .pid = tid,
          .tid = tid,
          .parent_pid = parent,
          .parent_tid = parent,
          .time = kStart + at};
}

const ThreadAccount* Find(const DispatchAccounts& accounts, uint32_t tid) {
  const ThreadAccount* found = nullptr;
  for (const ThreadAccount& account : accounts.threads()) {
    if (account.tid == tid) found = &account;
  }
  return found;
}

TEST(DispatchAccounts, WhatACpuCountedIsOfTheThreadThatLeaves) {
  DispatchAccounts accounts;
  accounts.Add(Leaves(0, 10, 100, 1, 7));
  accounts.Add(Comes(0, 20, 100));
  accounts.Add(Leaves(0, 20, 150, 2, 8));
  accounts.Add(Comes(0, 10, 150));
  accounts.Add(Leaves(0, 10, 400, 3, 20));
  EXPECT_EQ(Find(accounts, 10)->nanos, 350u);
  EXPECT_EQ(Find(accounts, 10)->dispatches, 2u);
  EXPECT_EQ(Find(accounts, 10)->counts[0], 19u);
  EXPECT_EQ(Find(accounts, 20)->nanos, 50u);
  EXPECT_EQ(Find(accounts, 20)->counts[0], 1u);
  EXPECT_EQ(accounts.lost().nanos, 0u);
}

TEST(DispatchAccounts, ARemovedThreadIsIdentifiedByItsDispatch) {
  DispatchAccounts accounts;
  accounts.Add(Leaves(0, 10, 100, 1, 0));
  accounts.Add(Comes(0, 20, 100));
  accounts.Add(Leaves(0, ~0u, 130, 2, 4));
  EXPECT_EQ(Find(accounts, 20)->nanos, 30u);
  EXPECT_EQ(Find(accounts, 20)->counts[0], 4u);
}

TEST(DispatchAccounts, UnseenIdlingIsNotTheNewcomers) {
  DispatchAccounts accounts;
  accounts.Add(Leaves(0, 10, 100, 1, 0));
  accounts.Add(Comes(0, 20, 900));
  accounts.Add(Leaves(0, 20, 1000, 3, 5));
  EXPECT_EQ(Find(accounts, 0)->nanos, 800u);
  EXPECT_EQ(Find(accounts, 0)->dispatches, 1u);
  EXPECT_EQ(Find(accounts, 20)->nanos, 100u);
  EXPECT_EQ(Find(accounts, 20)->dispatches, 1u);
  EXPECT_EQ(Find(accounts, 20)->counts[0], 5u);
}

// A sample's time is taken before its counts. Here the CPU is taken away for 500 ns in between.
TEST(DispatchAccounts, AnInterruptedSampleDoesNotShortenTheNextThreadsTime) {
  DispatchAccounts accounts;
  accounts.Add(Leaves(0, 10, 100, 1, 0));
  accounts.Add(Comes(0, 20, 100));
  SampleRecord interrupted = Leaves(0, 20, 900, 2, 0);
  interrupted.time -= 500;
  accounts.Add(interrupted);
  accounts.Add(Comes(0, 30, 1900));  // after an idle period without a record
  accounts.Add(Leaves(0, 30, 2000, 4, 0));
  EXPECT_EQ(Find(accounts, 0)->nanos, 1000u);
  EXPECT_EQ(Find(accounts, 30)->nanos, 100u);
  EXPECT_EQ(Find(accounts, 30)->dispatches, 1u);
}

// A CLOCK_MONOTONIC that runs slower than the CPU's clock by 500 ppm is followed.
TEST(DispatchAccounts, ClocksThatDriftApartAreFollowed) {
  constexpr uint64_t kSecond = 1'000'000'000;
  DispatchAccounts accounts;
  for (uint64_t second = 1; second <= 10; ++second) {
    SampleRecord record = Leaves(0, 10, second * kSecond, second, 0);
    record.time = 10 * kSecond + second * (kSecond - kSecond / 2000);
    accounts.Add(record);
  }
  SampleRecord comes = Comes(0, 20, 0);
  comes.time = 20 * kSecond - 10 * kSecond / 2000 + 900;
  accounts.Add(comes);
  accounts.Add(Leaves(0, 20, 10 * kSecond + 1000, 12, 0));
  EXPECT_EQ(Find(accounts, 20)->nanos, 100u);
}

// Thread 10 left at 100. The only later record: 20 was dispatched at 800 and left at 900.
void ExpectOnlyTheNewcomersTime(const DispatchAccounts& accounts, uint64_t lost_dispatches) {
  EXPECT_EQ(accounts.lost().dispatches, lost_dispatches);
  EXPECT_EQ(accounts.lost().nanos, 700u);
  EXPECT_EQ(accounts.lost().counts[0], 49u);
  EXPECT_EQ(Find(accounts, 20)->dispatches, 1u);
  EXPECT_EQ(Find(accounts, 20)->nanos, 100u);
}

// Some kernels do not report all their threads.
TEST(DispatchAccounts, TheTimeOfAnUnseenThreadIsLostAndThatOfTheNextIsNot) {
  DispatchAccounts accounts;
  accounts.Add(Leaves(0, 10, 100, 1, 1));
  accounts.Add(Comes(0, 20, 800));
  accounts.Add(Leaves(0, 20, 900, 4, 50));
  ExpectOnlyTheNewcomersTime(accounts, 2);
}

TEST(DispatchAccounts, CountsHiddenByLostRecordsAreLost) {
  DispatchAccounts accounts;
  accounts.Add(Leaves(0, 10, 100, 1, 1));
  accounts.Add({.kind = Kind::kLost, .cpu = 0, .lost = 9});
  accounts.Add(Comes(0, 20, 800));
  accounts.Add(Leaves(0, 20, 900, 11, 50));
  ExpectOnlyTheNewcomersTime(accounts, 9);
  accounts.Add(Comes(0, 10, 900));
  accounts.Add(Leaves(0, 10, 950, 12, 51));
  EXPECT_EQ(Find(accounts, 10)->nanos, 150u);
  EXPECT_EQ(Find(accounts, 10)->counts[0], 2u);
}

TEST(DispatchAccounts, AReadingTakesItsPlaceAmongTheSamples) {
  DispatchAccounts accounts;
  accounts.Add(Leaves(0, 10, 100, 1, 1));
  SampleRecord reading = {.cpu = 0};
  reading.counted = {.enabled = 300, .running = 300, .size = 2, .values = {2, 9}};
  accounts.AddReading(reading);
  accounts.Add(Comes(0, 20, 100));
  accounts.Add(Leaves(0, 20, 200, 2, 5));
  accounts.Add(Comes(0, 30, 200));
  accounts.Add(Leaves(0, 30, 400, 3, 12));
  EXPECT_EQ(Find(accounts, 30)->nanos, 200u);
  EXPECT_EQ(Find(accounts, 30)->counts[0], 7u);
  accounts.Add(Comes(0, 10, 400));
  reading.counted = {.enabled = 1000, .running = 1000, .size = 2, .values = {3, 15}};
  accounts.AddReading(reading);
  accounts.SettleReadings();
  EXPECT_EQ(Find(accounts, 10)->nanos, 700u);
  EXPECT_EQ(Find(accounts, 10)->dispatches, 1u);
  EXPECT_EQ(Find(accounts, 10)->counts[0], 4u);
}

// The kernel takes the time of a reading first and the number of dispatches last.
TEST(DispatchAccounts, AReadingWithADispatchAfterItsTimeLosesNothing) {
  DispatchAccounts accounts;
  accounts.Add(Leaves(0, 10, 100, 1, 1));
  accounts.Add(Comes(0, 20, 100));
  SampleRecord reading = {.cpu = 0};
  reading.counted = {.enabled = 200, .running = 200, .size = 2, .values = {2, 9}};
  accounts.AddReading(reading);
  accounts.Add(Leaves(0, 20, 210, 2, 12));
  EXPECT_EQ(Find(accounts, 20)->nanos, 110u);
  EXPECT_EQ(Find(accounts, 20)->dispatches, 1u);
  EXPECT_EQ(Find(accounts, 20)->counts[0], 11u);
  EXPECT_EQ(accounts.lost().dispatches, 0u);
  EXPECT_EQ(accounts.lost().nanos, 0u);
}

TEST(DispatchAccounts, FamilyAndNamesGoToChildren) {
  DispatchAccounts accounts;
  accounts.AddThread(10, 10, "parent", true);
  accounts.AddThread(11, 11, "other", false);
  accounts.Add(Forks(10, 20, 5));
  accounts.Add(Forks(11, 21, 6));
  accounts.Add({.kind = Kind::kComm, .pid = 20, .tid = 20, .text = "child"});
  accounts.Add(Forks(20, 30, 7));
  EXPECT_TRUE(Find(accounts, 20)->family);
  EXPECT_FALSE(Find(accounts, 21)->family);
  EXPECT_TRUE(Find(accounts, 30)->family);
  EXPECT_EQ(Find(accounts, 30)->name, "child");
  EXPECT_EQ(Find(accounts, 21)->name, "other");
}

TEST(DispatchAccounts, AnEndedThreadsNumberComesAgain) {
  DispatchAccounts accounts;
  accounts.AddThread(10, 10, "parent", true);
  accounts.AddThread(20, 20, "", false);  // existed before its start was reported
  accounts.Add(Forks(10, 20, 40));
  accounts.Add(Leaves(1, 20, 50, 1, 3));
  accounts.Add({.kind = Kind::kExit, .cpu = 1, .pid = 20, .tid = 20, .time = kStart + 60});
  EXPECT_TRUE(Find(accounts, 20)->family);
  EXPECT_EQ(Find(accounts, 20)->counts[0], 3u);
  accounts.Add(Forks(10, 20, 500));
  EXPECT_EQ(Find(accounts, 20)->counts[0], 0u);
  EXPECT_EQ(Find(accounts, 20)->ended, 0u);
  EXPECT_EQ(accounts.threads().size(), 3u);
}

}  // namespace
}  // namespace jprof::ptm
