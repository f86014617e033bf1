#include "calibrate/store/run_history.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "profile/files/printable_text.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::calibrate {
namespace {

constexpr uint64_t kOurProgram = 1, kOtherProgram = 2;

RunRecord RecordOf(uint64_t program, double total, double freedom = 1) {
  return {.program = program, .total = {total, freedom}, .share = {total, freedom}};
}

TEST(UsualSpreads, AreTheDefaultsWithoutHistory) {
  const profile::RunSpreads usual = UsualSpreads({}, kOurProgram), defaults;
  EXPECT_NEAR(usual.total.relative, defaults.total.relative, 1e-6);
  EXPECT_NEAR(usual.share.relative, defaults.share.relative, 1e-6);
  EXPECT_NEAR(usual.own_share.relative, defaults.own_share.relative, 1e-6);
  EXPECT_EQ(usual.total.freedom, defaults.total.freedom);
  EXPECT_EQ(usual.profiles, 0u);
}

TEST(UsualSpreads, FollowTheMachine) {
  const double before = profile::RunSpreads().total.relative;
  const std::vector<RunRecord> quiet(100, RecordOf(kOtherProgram, 0.002, 4));
  const std::vector<RunRecord> busy(100, RecordOf(kOtherProgram, 0.3, 4));
  EXPECT_LT(UsualSpreads(quiet, kOurProgram).total.relative, before / 4);
  EXPECT_GT(UsualSpreads(busy, kOurProgram).total.relative, 4 * before);
  EXPECT_EQ(UsualSpreads(busy, kOurProgram).total.freedom, profile::RunSpreads().total.freedom);
  EXPECT_EQ(UsualSpreads(busy, kOurProgram).profiles, 100u);
}

// One program that behaves in another way does not decide for all others.
TEST(UsualSpreads, OneOddProfileChangesLittle) {
  std::vector<RunRecord> history(30, RecordOf(kOtherProgram, 0.02));
  const double without = UsualSpreads(history, kOurProgram).total.relative;
  history.push_back(RecordOf(kOtherProgram, 9));
  EXPECT_NEAR(UsualSpreads(history, kOurProgram).total.relative / without, 1, 0.15);
}

TEST(UsualSpreads, AProgramsOwnProfilesCountAsRuns) {
  const std::vector<RunRecord> history(5, RecordOf(kOurProgram, 0.01));
  const profile::RunSpreads ours = UsualSpreads(history, kOurProgram);
  const profile::RunSpreads others = UsualSpreads(history, kOtherProgram);
  EXPECT_EQ(ours.total.freedom, others.total.freedom + 5);
  EXPECT_LT(ours.total.relative, others.total.relative);
  EXPECT_EQ(ours.own_share.freedom, others.own_share.freedom);  // nothing is known of it
}

class RunHistory : public testing::Test {
 protected:
  void SetUp() override { setenv("XDG_DATA_HOME", home_.path().c_str(), 1); }
  void TearDown() override { unsetenv("XDG_DATA_HOME"); }
  void Append(const std::string& text) {
    std::filesystem::create_directories(HistoryPath().parent_path());
    std::ofstream(HistoryPath(), std::ios::app) << text;
  }
  TemporaryDirectory home_{"history"};
};

TEST_F(RunHistory, ReadsWhatWasAdded) {
  EXPECT_TRUE(ReadHistory().empty());
  ASSERT_TRUE(AddToHistory({.program = 7, .total = {0.1, 1}, .share = {0, 1}}));
  ASSERT_TRUE(AddToHistory({.program = ~uint64_t{0}, .total = {0.2, 4}, .own_share = {0.5, 4}}));
  const std::vector<RunRecord> read = ReadHistory();
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].program, 7u);
  EXPECT_EQ(read[0].total, (profile::RunSpread{0.1, 1}));
  EXPECT_EQ(read[0].share, (profile::RunSpread{0, 1}));
  EXPECT_EQ(read[0].own_share, profile::RunSpread());
  EXPECT_EQ(read[1].program, ~uint64_t{0});
  EXPECT_EQ(read[1].own_share, (profile::RunSpread{0.5, 4}));
}

TEST_F(RunHistory, SkipsWhatItCannotUse) {
  ASSERT_TRUE(AddToHistory(RecordOf(1, 0.1)));
  Append("\n{\n[]\n\"text\"\n{\"total\":[1]}\n{\"total\":[-1,1]}\n{\"total\":[1e9,1]}\n");
  Append("{\"total\":[0.1,0]}\n{\"total\":[\"a\",1]}\n{\"total\":null}\n\xff\xfe\n");
  Append("{\"program\":\"x\",\"total\":[0.3,2],\"share\":[0.1,-5]}\n{\"total\":[0.2,");
  const std::vector<RunRecord> read = ReadHistory();
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].total, (profile::RunSpread{0.3, 2}));
  EXPECT_EQ(read[1].share, profile::RunSpread());
}

TEST_F(RunHistory, TheNewestCount) {
  ASSERT_TRUE(AddToHistory(RecordOf(99, 0.1)));
  for (uint64_t i = 0; i < 250; ++i) Append("{\"program\":1,\"total\":[0.1,1]}\n");
  EXPECT_EQ(ReadHistory().size(), 200u);
  EXPECT_EQ(ReadHistory().front().program, 1u);
}

// A long file does not hide what was added last, nor does a line that was written in part.
TEST_F(RunHistory, TheEndOfTheFileCounts) {
  Append(std::string(1 << 20, '\0') + "{\"total\":[0.1,");
  ASSERT_TRUE(AddToHistory(RecordOf(7, 0.1)));
  const std::vector<RunRecord> read = ReadHistory();
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].program, 7u);
}

TEST_F(RunHistory, AFifoDoesNotBlock) {
  std::filesystem::create_directories(HistoryPath().parent_path());
  ASSERT_EQ(mkfifo(HistoryPath().c_str(), 0600), 0);
  EXPECT_TRUE(ReadHistory().empty());
  EXPECT_FALSE(AddToHistory(RecordOf(1, 0.1)));
}

TEST_F(RunHistory, AFileThatCannotBeWrittenIsNamed) {
  setenv("XDG_DATA_HOME", "/dev/null/x", 1);
  EXPECT_TRUE(ReadHistory().empty());
  const auto added = AddToHistory(RecordOf(1, 0.1));
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("/dev/null/x/jprof/runs.jsonl"), std::string::npos);
}

TEST(ProgramId, IsOfAllWords) {
  EXPECT_EQ(ProgramId({"java", "Main"}), ProgramId({"java", "Main"}));
  EXPECT_NE(ProgramId({"java", "Main"}), ProgramId({"java", "Main", ""}));
  EXPECT_NE(ProgramId({"java", "a b"}), ProgramId({"java", "a", "b"}));
  // Profiles have commands with printable words.
  EXPECT_EQ(ProgramId({"a\nb", "\xff"}),
            ProgramId({profile::CleanText("a\nb"), profile::CleanText("\xff")}));
}

}  // namespace
}  // namespace jprof::calibrate
