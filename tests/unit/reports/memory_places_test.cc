// Tests the join of references with the logs of placements against a search through all placements.
#include "model/itrace/memory_places.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "cpo/allocations/placed.h"

namespace jprof::model {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint32_t kPid = 7;

cpo::Log LogOf(std::vector<cpo::Placement> placements) {
  return {.pid = kPid,
          .began_ns = 100 * kMs,
          .last_ns = 100 * kMs,
          .groups = {{.kind = "site", .key = "app+0x10"},
                     {.kind = "site", .key = "app+0x20<app+0x30"},
                     {.kind = "static", .key = "app"},
                     {.kind = "heap", .key = "malloc"},
                     {.kind = "stack", .key = "main"}},
          .placements = std::move(placements)};
}

std::string KeyAt(const MemoryPlaces& places, uint64_t address, uint64_t time_ns,
                  uint32_t pid = kPid) {
  const MemoryGroup& group = places.groups()[places.Find(pid, address, time_ns).group];
  return group.kind == "unknown" ? "" : group.kind + " " + group.key;
}

TEST(MemoryPlaces, TheGroupThatHadTheAddressAtTheTime) {
  const MemoryPlaces places(
      {LogOf({{1000, 100, 200 * kMs, 300 * kMs, 0}, {1000, 100, 300 * kMs, cpo::kForever, 1}})});
  EXPECT_FALSE(places.empty());
  EXPECT_EQ(KeyAt(places, 1000, 200 * kMs), "site app+0x10");
  EXPECT_EQ(KeyAt(places, 1099, 300 * kMs - 1), "site app+0x10");
  EXPECT_EQ(KeyAt(places, 1099, 300 * kMs), "site app+0x20<app+0x30");
  EXPECT_EQ(KeyAt(places, 1100, 300 * kMs), "");
  EXPECT_EQ(KeyAt(places, 999, 300 * kMs), "");
  EXPECT_EQ(KeyAt(places, 1000, 250 * kMs, kPid + 1), "");
}

TEST(MemoryPlaces, TimesAreUncertain) {
  const MemoryPlaces places({LogOf({{1000, 100, 200 * kMs, 300 * kMs, 0}})});
  EXPECT_EQ(KeyAt(places, 1000, 200 * kMs - kPlaceSlackNanos), "site app+0x10");
  EXPECT_EQ(KeyAt(places, 1000, 200 * kMs - kPlaceSlackNanos - 1), "");
  EXPECT_EQ(KeyAt(places, 1000, 300 * kMs + kPlaceSlackNanos - 1), "site app+0x10");
  EXPECT_EQ(KeyAt(places, 1000, 300 * kMs + kPlaceSlackNanos), "");
}

TEST(MemoryPlaces, StaticDataAndTheStackAreThereFromTheBeginning) {
  const MemoryPlaces places({LogOf({{1000, 100, 200 * kMs, cpo::kForever, 2},
                                    {2000, 100, 200 * kMs, cpo::kForever, 4},
                                    {3000, 100, 200 * kMs, cpo::kForever, 3}})});
  EXPECT_EQ(KeyAt(places, 1000, 1), "static app");
  EXPECT_EQ(KeyAt(places, 2000, 1), "stack main");
  EXPECT_EQ(KeyAt(places, 3000, 1), "");
}

// A process that executes another program has a log of each.
TEST(MemoryPlaces, AnExecutedProgramTakesAllMemory) {
  cpo::Log next =
      LogOf({{1000, 100, 4500 * kMs, cpo::kForever, 1}, {5000, 100, 4500 * kMs, cpo::kForever, 2}});
  next.began_ns = 4000 * kMs;
  const cpo::Log first =
      LogOf({{1000, 100, 200 * kMs, cpo::kForever, 0}, {6000, 100, 200 * kMs, cpo::kForever, 2}});
  const MemoryPlaces places({next, first});
  EXPECT_EQ(places.groups().size(), 6u);  // the same keys are the same groups
  EXPECT_EQ(KeyAt(places, 1000, 3999 * kMs), "site app+0x10");
  EXPECT_EQ(KeyAt(places, 1000, 4500 * kMs), "site app+0x20<app+0x30");
  EXPECT_EQ(KeyAt(places, 1000, 4300 * kMs), "");
  EXPECT_EQ(KeyAt(places, 6000, 4300 * kMs), "");
  EXPECT_EQ(KeyAt(places, 5000, 4010 * kMs), "static app");
  EXPECT_EQ(KeyAt(places, 5000, 90 * kMs), "");
}

TEST(MemoryPlaces, WithoutLogsAllIsNotKnown) {
  const MemoryPlaces places(std::vector<cpo::Log>{});
  EXPECT_TRUE(places.empty());
  EXPECT_EQ(KeyAt(places, 1000, 5), "");
}

// Returns the groups that may be found by the definition: of what had the address at the time, else
// of what had it at the nearest time that is less than the slack away.
std::set<uint32_t> Allowed(const cpo::Log& log, uint64_t address, uint64_t time_ns) {
  std::set<uint32_t> nearest;
  uint64_t least = kPlaceSlackNanos + 1;
  for (const cpo::Placement& one : log.placements) {
    if (address < one.start || address - one.start >= one.size) continue;
    const uint64_t from = log.groups[one.group].kind == "static" ? 0 : one.from_ns;
    if (from <= time_ns && time_ns < one.to_ns) return {one.group};
    const uint64_t away = time_ns < from ? from - time_ns : time_ns - one.to_ns;
    if (time_ns >= from && away >= kPlaceSlackNanos) continue;
    if (away < least) nearest.clear();
    if (away <= least) nearest.insert(one.group);
    least = std::min(least, away);
  }
  return nearest;
}

TEST(MemoryPlaces, TheNearestInTimeHasIt) {
  const MemoryPlaces places(
      {LogOf({{1000, 100, 200 * kMs, 300 * kMs, 0}, {1000, 100, 350 * kMs, cpo::kForever, 1}})});
  EXPECT_EQ(KeyAt(places, 1000, 301 * kMs), "site app+0x10");
  EXPECT_EQ(KeyAt(places, 1000, 349 * kMs), "site app+0x20<app+0x30");
}

TEST(MemoryPlaces, WhatChangesHandsSoonIsDoubtful) {
  const MemoryPlaces places({LogOf({{1000, 100, 200 * kMs, 300 * kMs, 0},
                                    {1000, 100, 300 * kMs, 500 * kMs, 1},
                                    {1000, 100, 505 * kMs, cpo::kForever, 1}})});
  EXPECT_FALSE(places.Find(kPid, 1000, 250 * kMs).is_doubtful);
  EXPECT_TRUE(places.Find(kPid, 1000, 295 * kMs).is_doubtful);
  EXPECT_TRUE(places.Find(kPid, 1000, 305 * kMs).is_doubtful);
  EXPECT_FALSE(places.Find(kPid, 1000, 311 * kMs).is_doubtful);
  EXPECT_FALSE(places.Find(kPid, 1000, 502 * kMs).is_doubtful);  // the same group has it again
  EXPECT_FALSE(places.Find(kPid, 5000, 300 * kMs).is_doubtful);
}

TEST(MemoryPlaces, NamesHaveNoControlCharacters) {
  cpo::Log log = LogOf({{1000, 100, 200 * kMs, cpo::kForever, 0}});
  log.groups[0] = {.kind = "static\033", .key = "a\033[31m"};
  const MemoryPlaces places({log});
  for (const MemoryGroup& group : places.groups())
    EXPECT_FALSE((group.kind + group.key + group.name).contains('\033')) << group.name;
}

TEST(MemoryPlaces, AreThoseOfASearchThroughAll) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    cpo::Placed placed;
    uint64_t now = 100 * kMs;
    for (int i = 0; i < 200; ++i) {
      const uint64_t start = 1000 + random() % 2000, size = 1 + random() % 300;
      now += random() % (5 * kMs);
      if (random() % 3 == 0) {
        placed.End(start, size, now);
      } else if (random() % 5 == 0) {
        placed.Fill(start, size, now, 3);
      } else {
        placed.Begin(start, size, now, static_cast<uint32_t>(random() % 3));
      }
    }
    const cpo::Log log = LogOf(placed.Finish());
    const MemoryPlaces places({log});
    for (int i = 0; i < 5000; ++i) {
      const uint64_t address = 900 + random() % 2600, time = random() % (now + 100 * kMs);
      const std::set<uint32_t> allowed = Allowed(log, address, time);
      const uint32_t found = places.Find(kPid, address, time).group;
      if (found == 0) {
        EXPECT_TRUE(allowed.empty()) << address << " at " << time;
      } else {
        EXPECT_TRUE(allowed.contains(found - 1)) << address << " at " << time;
      }
    }
  }
}

}  // namespace
}  // namespace jprof::model
