// Tests counters per thread on a PMU that counts exactly: the PMU lab's guest. The same
// expectations hold with mapped reads in user space and without them (JPROF_LAB_USER_READS=0: the
// kernel is configured to forbid them).
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/pmu-lab/loop.h"

namespace jprof::pmu_lab {
namespace {

using ptm::EventGroup;
using ptm::EventSpec;

bool UserReads() {
  const char* allowed = getenv("JPROF_LAB_USER_READS");
  return allowed == nullptr || std::string_view(allowed) != "0";
}

bool ReadsInUserSpace(EventGroup& group, int event) {
  ptm::CounterReading reading;
  return group.slot(event).page != nullptr && ptm::ReadPage(*group.slot(event).page, reading);
}

TEST(Counters, AreReadInUserSpaceWhereTheKernelAllowsIt) {
  const EventSpec events[] = {kInstructions, kCycles};
  EventGroup group;
  ASSERT_FALSE(group.Open(events).Failed());
  EXPECT_EQ(ReadsInUserSpace(group, 0), UserReads());
  EXPECT_EQ(ReadsInUserSpace(group, 1), UserReads());
}

TEST(Counters, InstructionsOfALoopAreExact) {
  EventGroup group;
  ASSERT_FALSE(group.Open({&kInstructions, 1}).Failed());
  CountTurns(group, 1);
  for (const uint64_t turns : {1u, 10u, 1000u, 1'000'000u, 20'000'000u}) {
    const int64_t once = CountTurns(group, turns);
    const int64_t twice = CountTurns(group, 2 * turns);
    EXPECT_EQ(twice - once, static_cast<int64_t>(turns) * kPerTurn) << turns << " turns";
    EXPECT_EQ(CountTurns(group, turns), once) << "again";
  }
}

TEST(Counters, AMetricBesideAnotherIsStillExact) {
  const EventSpec events[] = {kInstructions, kCycles};
  EventGroup group;
  ASSERT_FALSE(group.Open(events).Failed());
  const auto count = [&](uint64_t turns) {
    std::array<int64_t, 2> before{}, after{};
    group.ReadAll<2>(before.data());
    Turn(turns);
    group.ReadAll<2>(after.data());
    EXPECT_GT(after[1], before[1]);
    return after[0] - before[0];
  };
  count(1);
  EXPECT_EQ(count(2'000'000) - count(1'000'000), 1'000'000 * kPerTurn);
}

// A thread that runs a known number of turns beside others, all on one CPU; records its count and
// how often it was interrupted.
struct Worker {
  uint64_t turns;
  int64_t alone = 0, together = 0;
};

// The kernel preempts the thread every few ms; in addition, each thread yields.
int64_t CountInSteps(EventGroup& group, uint64_t turns, bool yield) {
  int64_t sum = 0;
  for (int step = 0; step < 20; ++step) {
    sum += CountTurns(group, turns);
    if (yield) sched_yield();
  }
  return sum;
}

TEST(Counters, ThreadsOnOneCpuDoNotMix) {
  std::vector<Worker> workers = {{1'000'000}, {300'000}, {3'000'000}};
  pthread_barrier_t start;
  for (const bool together : {false, true}) {
    pthread_barrier_init(&start, nullptr, together ? static_cast<unsigned>(workers.size()) : 1);
    std::vector<std::thread> threads;
    for (Worker& worker : workers) {
      threads.emplace_back([&worker, &start, together] {
        EventGroup group;
        ASSERT_FALSE(group.Open({&kInstructions, 1}).Failed());
        CountTurns(group, 1);
        pthread_barrier_wait(&start);
        (together ? worker.together : worker.alone) = CountInSteps(group, worker.turns, together);
      });
      if (!together) threads.back().join();
    }
    for (std::thread& thread : threads) {
      if (thread.joinable()) thread.join();
    }
    pthread_barrier_destroy(&start);
  }
  for (const Worker& worker : workers) {
    const auto turns = static_cast<int64_t>(worker.turns) * kPerTurn * 20;
    EXPECT_GE(worker.alone, turns);
    EXPECT_LT(worker.alone - turns, 20 * 2000) << "more than the reads";
    EXPECT_EQ(worker.together, worker.alone) << worker.turns << " turns";
  }
}

// A thread that is migrated during a mapped read repeats it: a few additional instructions, never a
// wrong count.
TEST(Counters, AreRightWhenReadsAreInterruptedAllTheTime) {
  std::atomic<bool> end = false;
  std::thread other([&end] {
    while (!end) sched_yield();
  });
  EventGroup group;
  ASSERT_FALSE(group.Open({&kInstructions, 1}).Failed());
  CountTurns(group, 1);
  const int64_t once = CountTurns(group, 1000);
  const int64_t before = ptm::Read(group.slot(0));
  int64_t sum = 0, last = before;
  constexpr int kReads = 20'000;
  for (int i = 0; i < kReads; ++i) {
    const int64_t count = CountTurns(group, 1000);
    EXPECT_GE(count, once);
    EXPECT_LT(count, once + 1000);
    sum += count;
    if (i % 100 == 0) sched_yield();
    const int64_t now = ptm::Read(group.slot(0));
    EXPECT_GT(now, last);
    last = now;
  }
  EXPECT_LT(sum, last - before);
  end = true;
  other.join();
}

TEST(Counters, TheCostOfARead) {
  const EventSpec events[] = {kInstructions, kCycles};
  EventGroup one, two;
  ASSERT_FALSE(one.Open({events, 1}).Failed());
  ASSERT_FALSE(two.Open(events).Failed());
  constexpr int kReads = 1000;
  const auto cost = [&](auto read) {
    read();
    const auto reads = [&](int count) {
      const int64_t before = ptm::Read(one.slot(0));
      for (int i = 0; i < count; ++i) read();
      return ptm::Read(one.slot(0)) - before;
    };
    return static_cast<double>(reads(2 * kReads) - reads(kReads)) / kReads;
  };
  std::array<int64_t, 2> out{};
  const double single = cost([&] { asm volatile("" : : "r"(ptm::Read(one.slot(0)))); });
  const double both = cost([&] {
    two.ReadAll<2>(out.data());
    asm volatile("" : : "r"(out.data()) : "memory");
  });
  const double nothing = cost([] { asm volatile(""); });
  printf("lab: a read of one metric takes %.1f user instructions, of two %.1f (%s)\n",
         single - nothing, both - nothing, UserReads() ? "mapped" : "by call");
  EXPECT_LT(single - nothing, UserReads() ? 80 : 300);
  EXPECT_LT(both - nothing, UserReads() ? 130 : 600);
}

}  // namespace
}  // namespace jprof::pmu_lab
