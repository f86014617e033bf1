#include "itrace/translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "itrace/data_area.h"
#include "itrace/tracee.h"

namespace jprof::itrace {
namespace {

constexpr uint64_t kCode = 0x400000, kAt = 0x500000;
constexpr uint32_t kData = 0x10000000;

Translation TranslateBytes(const std::vector<uint8_t>& code, bool checked = false,
                           std::function<bool(uint64_t)> stops = {},
                           TranslatorOptions options = {}) {
  return Translate({.start = kCode, .code = code, .checked = checked, .stops = std::move(stops)},
                   options, kAt, kData, 100);
}

// The kinds of traps in their order.
std::vector<CodeTrap::Type> TrapsOf(const Translation& translation) {
  std::vector<CodeTrap::Type> types;
  for (const CodeTrap& trap : translation.traps) types.push_back(trap.type);
  return types;
}

TEST(TranslatorTest, EndsAtABranchThatAlwaysLeaves) {
  // inc eax; je +1; inc ecx; jmp -8
  const Translation made =
      TranslateBytes({0xff, 0xc0, 0x74, 1, 0x90, 0xff, 0xc1, 0xeb, 0xf6, 0x90});
  EXPECT_EQ(made.end, kCode + 9);
  ASSERT_EQ(made.exits.size(), 2u);
  EXPECT_EQ(made.exits[0].kind, profile::BranchKind::kTaken);
  EXPECT_EQ(made.exits[0].to, kCode + 5);
  EXPECT_EQ(made.exits[0].executed, 2u);
  EXPECT_EQ(made.exits[1].kind, profile::BranchKind::kJump);
  EXPECT_EQ(made.exits[1].from, kCode + 7);
  EXPECT_EQ(made.exits[1].to, kCode - 1);
  EXPECT_EQ(made.exits[1].executed, 5u);
}

TEST(TranslatorTest, ContinuesALongLine) {
  const Translation made = TranslateBytes(std::vector<uint8_t>(300, 0x90));
  ASSERT_EQ(made.exits.size(), 1u);
  EXPECT_EQ(made.exits[0].type, CodeExit::Type::kContinued);
  EXPECT_EQ(made.exits[0].executed, 64u);
  EXPECT_EQ(made.exits[0].to, kCode + 64);
}

TEST(TranslatorTest, EveryInstructionHasAPoint) {
  const Translation made = TranslateBytes({0x90, 0x90, 0xc3});
  std::vector<uint64_t> places;
  uint32_t before = 0;
  for (const CodePoint& point : made.points) {
    EXPECT_GE(point.offset, before);
    before = point.offset;
    if (point.state == CodePoint::State::kAt) places.push_back(point.original - kCode);
  }
  EXPECT_EQ(places, (std::vector<uint64_t>{0, 1, 2}));
  EXPECT_EQ(made.points[2].executed, 2u);
}

TEST(TranslatorTest, AdjustsRipRelativeOperands) {
  // lea rax, [rip + 0x10]; ret
  const Translation made = TranslateBytes({0x48, 0x8d, 0x05, 0x10, 0, 0, 0, 0xc3});
  int32_t displacement = 0;
  std::memcpy(&displacement, &made.bytes[made.entry + 3], 4);
  EXPECT_EQ(kAt + made.entry + 7 + static_cast<uint64_t>(displacement), kCode + 7 + 0x10);
}

TEST(TranslatorTest, StepsWhatCannotBeCopied) {
  for (const std::vector<uint8_t>& code :
       {std::vector<uint8_t>{0x90, 0x0f, 0x05}, {0x90, 0xcd, 0x80}, {0x90, 0x06}, {0x90}}) {
    const Translation made = TranslateBytes(code);
    ASSERT_EQ(TrapsOf(made), std::vector{CodeTrap::Type::kStep});
    EXPECT_TRUE(made.exits.empty());
    EXPECT_EQ(made.points.back().original, kCode + 1);
    EXPECT_EQ(made.points.back().executed, 1u);
  }
}

TEST(TranslatorTest, StopsWhereItIsTold) {
  const auto at = [](uint64_t place) {
    return [place](uint64_t address) { return address == place; };
  };
  const Translation first = TranslateBytes({0x90, 0x90, 0xc3}, false, at(kCode));
  ASSERT_EQ(TrapsOf(first).front(), CodeTrap::Type::kStop);
  EXPECT_EQ(first.traps.front().offset, first.entry);
  const Translation later = TranslateBytes({0x90, 0x90, 0xc3}, false, at(kCode + 1));
  ASSERT_EQ(later.exits.size(), 1u);
  EXPECT_EQ(later.exits[0].type, CodeExit::Type::kContinued);
  EXPECT_EQ(later.exits[0].to, kCode + 1);
}

TEST(TranslatorTest, ComparesCodeThatMayChange) {
  const Translation made = TranslateBytes({0x90, 0x90, 0xc3}, true);
  EXPECT_EQ(std::ranges::count(TrapsOf(made), CodeTrap::Type::kChanged), 1);
  EXPECT_EQ(made.entry, 32u);  // after the expected bytes and their mask
  EXPECT_EQ(made.bytes[0], 0x90);
  EXPECT_EQ(made.bytes[2], 0xc3);
  EXPECT_EQ(made.bytes[3], 0);
  EXPECT_EQ(made.bytes[16], 0xff);
  EXPECT_EQ(made.bytes[19], 0);
  // What is stepped anyway is not compared.
  EXPECT_EQ(TrapsOf(TranslateBytes({0xcc}, true)), std::vector{CodeTrap::Type::kStep});
}

TEST(TranslatorTest, RepeatsAreReported) {
  const Translation made = TranslateBytes({0xf3, 0xa4, 0xc3});
  ASSERT_EQ(made.exits.size(), 2u);
  EXPECT_EQ(made.exits[0].type, CodeExit::Type::kRepeats);
  EXPECT_EQ(made.exits[0].executed, 1u);
  EXPECT_EQ(made.exits[1].kind, profile::BranchKind::kReturn);
  EXPECT_EQ(made.exits[1].executed, 1u);
}

procfs::Mapping At(uint64_t start, uint64_t end, const char* path = "") {
  return {.start = start, .end = end, .path = path};
}

TEST(FindGapTest, TakesTheNearestGapAtItsUpperEnd) {
  const std::vector<procfs::Mapping> maps = {At(0x400000, 0x500000), At(0x700000, 0x800000)};
  EXPECT_EQ(FindGap(maps, 0x10000, 0x10000, 0x900000, 0x480000), 0x3f0000u);
  EXPECT_EQ(FindGap(maps, 0x10000, 0x10000, 0x900000, 0x720000), 0x6f0000u);
  EXPECT_EQ(FindGap(maps, 0x10000, 0x410000, 0x600000, 0), 0x5f0000u);
  EXPECT_EQ(FindGap(maps, 0x10000, 0x400000, 0x500000, 0), 0u);
  EXPECT_EQ(FindGap({}, 0x10000, 0x10000, 0x30000, 0), 0x20000u);
}

TEST(FindGapTest, StaysAwayFromTheStack) {
  const uint64_t stack = 0x7ffffff00000;
  const std::vector<procfs::Mapping> maps = {At(0x7fff00000000, 0x7fff10000000),
                                             At(stack, stack + 0x1000, "[stack]")};
  EXPECT_EQ(FindGap(maps, 0x10000, 0x7fff08000000, stack + 0x1000, stack), 0x7fff10000000u);
}

}  // namespace
}  // namespace jprof::itrace
