#include "cpo/allocations/log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/cpo/log_writer.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::cpo {
namespace {

using enum SlotKind;

Log Read(const LogWriter& writer) {
  auto log = ParseLog(writer.bytes());
  EXPECT_TRUE(log) << log.error().message;
  return log ? *std::move(log) : Log{};
}

LogWriter TwoSites() {
  LogWriter writer;
  writer.Text(kGroup, 3, "site app+0x10").Text(kGroup, 5, "heap malloc");
  return writer;
}

TEST(LogTest, ReadsGroupsPlacementsAndCounts) {
  const std::string path = "/opt/with blanks/" + std::string(60, 'x') + "/libapp.so";
  LogWriter writer = TwoSites();
  writer.Text(kModule, 0, "7f0000 2000 " + path).Text(kNote, 0, "nothing is applied");
  writer.Add(kBegin, 3, 0x10000, 0x1000, 150).Add(kEnd, 0, 0x10000, 0x1000, 160);
  writer.Add(kBegin, 5, 0x10000, 0x800, 170).Add(kOutcome, 3, 400, 300, 171);
  writer.Add(kOutcome, 3, 200, 100, 172).Add(kRefused, 3, 0x9000, 50, 173);
  writer.Add(kFaults, 0, 11, 2, 174).Add(kTotal, 0, 8, 9, 175).Add(kExit, 0, 0, 0, 180);
  const Log log = Read(writer);
  EXPECT_EQ(log.pid, 7u);
  EXPECT_EQ(log.began_ns, 100u);
  EXPECT_EQ(log.last_ns, 180u);
  EXPECT_TRUE(log.exited);
  EXPECT_EQ(log.groups, (std::vector<LoggedGroup>{{"site", "app+0x10", 200, 100, 300, 50},
                                                  {"heap", "malloc"}}));
  EXPECT_EQ(log.modules, (std::vector<LoggedModule>{{0x7f0000, 0x2000, path}}));
  EXPECT_EQ(log.notes, std::vector<std::string>{"nothing is applied"});
  EXPECT_EQ(log.placements, (std::vector<Placement>{{0x10000, 0x1000, 150, 160, 0},
                                                    {0x10000, 0x800, 170, kForever, 1}}));
  EXPECT_EQ(log.minor_faults, 11u);
  EXPECT_EQ(log.total_large, 8u);
  EXPECT_EQ(log.damaged, 0u);
}

TEST(LogTest, ABlockDividesThePlacementAroundIt) {
  LogWriter writer = TwoSites();
  writer.Add(kBegin, 5, 0x1000, 0x3000, 110).Add(kBegin, 3, 0x2000, 0x1000, 120);
  writer.Add(kBegin, 5, 0x2000, 0x1000, 130);
  EXPECT_EQ(Read(writer).placements, (std::vector<Placement>{{0x2000, 0x1000, 110, 120, 1},
                                                             {0x2000, 0x1000, 120, 130, 0},
                                                             {0x1000, 0x1000, 110, kForever, 1},
                                                             {0x2000, 0x1000, 130, kForever, 1},
                                                             {0x3000, 0x1000, 110, kForever, 1}}));
}

TEST(LogTest, FillTakesOnlyWhatIsFree) {
  LogWriter writer = TwoSites();
  writer.Add(kBegin, 3, 0x2000, 0x1000, 110).Add(kBegin, 3, 0x4000, 0x1000, 115);
  writer.Add(kEnd, 0, 0x4000, 0x1000, 140).Add(kFill, 5, 0x1000, 0x4000, 105);
  EXPECT_EQ(Read(writer).placements, (std::vector<Placement>{{0x4000, 0x1000, 115, 140, 0},
                                                             {0x1000, 0x1000, 105, kForever, 1},
                                                             {0x2000, 0x1000, 110, kForever, 0},
                                                             {0x3000, 0x2000, 140, kForever, 1}}));
}

TEST(LogTest, TheSameGroupOfTwoNumbersIsOne) {
  LogWriter writer = TwoSites();
  writer.Text(kGroup, 9, "site app+0x10").Add(kBegin, 9, 0x1000, 0x1000, 110);
  writer.Add(kBegin, 3, 0x3000, 0x1000, 111);
  const Log log = Read(writer);
  EXPECT_EQ(log.groups.size(), 2u);
  ASSERT_EQ(log.placements.size(), 2u);
  EXPECT_EQ(log.placements[0].group, log.placements[1].group);
}

TEST(LogTest, SlotsThatAreNotCompleteAreSkipped) {
  LogWriter writer = TwoSites();
  writer.Add(kUnused, 3, 0x1000, 0x1000, 110).Add(kBegin, 3, 0x2000, 0x1000, 120);
  EXPECT_EQ(Read(writer).placements.size(), 1u);
  std::string whole = writer.bytes();
  whole.resize(kChunkSlots * sizeof(LogSlot));
  EXPECT_FALSE(ParseLog(whole)->cut_off);
  EXPECT_TRUE(ParseLog(std::string_view(whole).substr(0, whole.size() - 1))->cut_off);
  const auto cut = ParseLog(std::string_view(writer.bytes()).substr(0, writer.bytes().size() - 1));
  ASSERT_TRUE(cut);
  EXPECT_TRUE(cut->placements.empty());
}

TEST(LogTest, WhatMakesNoSenseIsCounted) {
  LogWriter writer = TwoSites();
  writer.Add(kBegin, 4, 0x1000, 0x1000, 110);         // no such group
  writer.Add(kBegin, 3, 0x1000, 0, 110);              // no memory
  writer.Add(kBegin, 3, UINT64_MAX - 10, 100, 110);   // beyond the address space
  writer.Add(static_cast<SlotKind>(77), 0, 0, 0, 0);  // no such kind
  writer.Text(kModule, 0, "nowhere");
  writer.Add(kBegin, 3, UINT64_MAX - 99, 100, 110).Add(kFill, 5, UINT64_MAX - 199, 200, 110);
  const Log log = Read(writer);
  EXPECT_EQ(log.damaged, 5u);
  EXPECT_EQ(log.placements.size(), 2u);
}

TEST(LogTest, OtherFilesAreRefused) {
  EXPECT_FALSE(ParseLog(""));
  EXPECT_FALSE(ParseLog(std::string(64, '\0')));
  const TemporaryDirectory folder("pages");
  const auto missing = ReadLog(folder.path() / "pages.1");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("pages.1"), std::string::npos);
  const std::string path = folder.path() / "pages.2";
  std::ofstream(path, std::ios::binary) << TwoSites().bytes();
  EXPECT_TRUE(ReadLog(path));
}

}  // namespace
}  // namespace jprof::cpo
