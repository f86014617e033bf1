#include "model/itrace/run_counts.h"

#include <gtest/gtest.h>

#include <random>

namespace jprof::reports {
namespace {

constexpr uint32_t kPid = 16;
constexpr uint64_t kStart = 0x10000000;

TEST(RunCounts, CountsWhatWasExecutedInAPieceOfAnySize) {
  a2n::Resolver resolver;
  resolver.Jitted(kPid, {.start = kStart, .length = 60 << 20, .name = "large"});
  model::ArcCode code(resolver, {});
  model::RunCounts counts(code);
  const auto run = [&](uint64_t from, uint64_t last) {
    counts.Add({.pid = kPid, .time_ns = 5, .begin = kStart + from, .last = kStart + last});
  };
  for (int i = 0; i < 3; ++i) run(16, 31);
  run(24, 31);
  run(50 << 20, 50 << 20);
  const auto executed = counts.Executed(code.PieceAt(kPid, kStart, 5));
  std::vector<std::pair<uint64_t, uint64_t>> found;
  for (const model::ExecutedFrom& from : executed) found.emplace_back(from.offset, from.count);
  const std::vector<std::pair<uint64_t, uint64_t>> expected = {
      {16, 3}, {24, 4}, {32, 0}, {50 << 20, 1}, {(50 << 20) + 1, 0}};
  EXPECT_EQ(found, expected);
}

// A piece of code without symbols lasts from the last change of its address to the next one.
TEST(ArcCode, APieceLastsFromChangeToChange) {
  std::mt19937 random(4);
  std::vector<model::CodeChange> changes;
  for (int i = 0; i < 300; ++i) {
    changes.push_back({.time = 10 + random() % 1000,
                       .pid = kPid,
                       .start = kStart + random() % 100,
                       .length = random() % 20,
                       .code = random() % 2 == 0});
  }
  std::ranges::stable_sort(changes, {}, &model::CodeChange::time);
  a2n::Resolver resolver;
  model::ArcCode code(resolver, changes);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t address = kStart + random() % 130, time = random() % 1100;
    uint64_t from = 0, until = a2n::kForever;
    for (const model::CodeChange& change : changes) {
      if (address < change.start || address - change.start >= change.length) continue;
      if (change.time <= time) from = std::max(from, change.time);
      if (change.time > time) until = std::min(until, change.time);
    }
    const model::CodePiece& piece = code.pieces()[code.PieceAt(kPid, address, time)];
    EXPECT_EQ(std::pair(piece.from, piece.until), std::pair(from, until)) << address << ' ' << time;
  }
}

}  // namespace
}  // namespace jprof::reports
