#include "profile/log/branch_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/unit/profile/file_size_limit.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

class BranchLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "branches_XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    directory_ = made;
    path_ = (directory_ / kBranchesFile).string();
  }
  void TearDown() override { fs::remove_all(directory_); }

  void Write(const std::vector<Branch>& branches) {
    BranchWriter writer;
    ASSERT_TRUE(writer.Open(path_, {.start_unix_ns = 3, .start_ns = 5}));
    for (const Branch& branch : branches) writer.Add(branch);
    EXPECT_EQ(writer.records(), branches.size());
    ASSERT_TRUE(writer.Close(5000));
  }
  std::string Content() const {
    std::ifstream file(path_, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }

  fs::path directory_;
  std::string path_;
};

std::vector<Branch> Few() {
  using enum BranchKind;
  return {{10, 7, 7, kBegin, 0, 0x7fff00001000, 0, 0},
          {10, 7, 7, kTaken, 0x7fff00001010, 0x7fff00000ff0, 5, 0},
          {11, 7, 7, kCall, 0x7fff00001000, 0x400000, 6, 0},
          {11, 7, 7, kReturn, 0x400010, 0x7fff00001005, 3, 4096},
          {40, 7, 7, kSystemCall, 0x7fff00001009, 0x7fff0000100b, 2, 0},
          {50, 7, 7, kSignal, 0x7fff00001010, 0x1, 9, 0},
          {60, 7, 7, kSignalReturn, ~uint64_t{0}, 0x7fff00001010, ~uint64_t{0}, ~uint64_t{0}},
          {70, 7, 7, kEnd, 0x7fff00001018, 0, 1, 0}};
}

// A long trace of one thread, in the form that real ones have.
std::vector<Branch> Many(size_t count, uint32_t tid) {
  std::mt19937_64 random(tid);
  std::vector<Branch> all;
  uint64_t at = 0x7f0000000000;
  for (size_t i = 0; i < count; ++i) {
    Branch branch{.time_ns = 10 + i / 100, .pid = 7, .tid = tid, .kind = BranchKind::kJump};
    branch.from = at + random() % 100;
    branch.to = at = branch.from + random() % 4096 - 2048;
    branch.instructions = random() % 20;
    branch.repeats = random() % 50 == 0 ? random() : 0;
    all.push_back(branch);
  }
  return all;
}

TEST_F(BranchLogTest, ReadsBackWhatWasWritten) {
  Write(Few());
  const auto log = BranchLog::Read(path_);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->damages(), std::vector<std::string>());
  EXPECT_EQ(log->header().start_ns, 5u);
  EXPECT_EQ(log->end_ns(), 5000u);
  EXPECT_EQ(log->records(), Few().size());
  EXPECT_EQ(log->All(), Few());
}

TEST_F(BranchLogTest, KeepsTheOrderOfEachOfSeveralThreads) {
  const auto one = Many(100'000, 8), other = Many(70'000, 9);
  std::vector<Branch> mixed;
  for (size_t i = 0; i < one.size(); ++i) {
    mixed.push_back(one[i]);
    if (i < other.size()) mixed.push_back(other[i]);
  }
  Write(mixed);
  EXPECT_LT(fs::file_size(path_), mixed.size() * 8);
  const auto log = BranchLog::Read(path_);
  ASSERT_TRUE(log) << log.error().message;
  std::vector<Branch> ones, others;
  std::vector<TracedThread> threads;
  log->ForEach([&](const Branch& branch) {
    (branch.tid == 8 ? ones : others).push_back(branch);
    const TracedThread thread = {.pid = branch.pid, .tid = branch.tid};
    if (std::ranges::find(threads, thread) == threads.end()) threads.push_back(thread);
  });
  EXPECT_EQ(ones, one);
  EXPECT_EQ(others, other);
  EXPECT_EQ(threads.size(), 2u);
  EXPECT_EQ(log->Threads(), threads);
}

TEST_F(BranchLogTest, ATraceThatWasCutOffReadsUpToThere) {
  const auto all = Many(30'000, 8);
  Write(all);
  const std::string whole = Content();
  size_t last = 0;
  for (size_t size = sizeof(LogHeader); size < whole.size(); size += 997) {
    const auto log = BranchLog::Parse({whole.substr(0, size), "cut"});
    ASSERT_TRUE(log) << size;
    EXPECT_EQ(log->damages().size(), 1u) << size;
    const auto read = log->All();
    EXPECT_GE(read.size(), last);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), all.begin()));
    last = read.size();
  }
  EXPECT_GT(last, all.size() / 2);
}

TEST_F(BranchLogTest, DamageIsFoundAndNothingWrongIsRead) {
  const auto all = Many(60'000, 8);
  Write(all);
  const std::string whole = Content();
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    const size_t at = sizeof(LogHeader) + random() % (whole.size() - 32);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 + random() % 255));
    const auto log = BranchLog::Parse({damaged, "damaged"});
    ASSERT_TRUE(log);
    EXPECT_FALSE(log->damages().empty()) << at;
    EXPECT_LT(log->records(), all.size() + 1);
  }
}

TEST_F(BranchLogTest, NoiseEndsTheReading) {
  Write(Few());
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    std::string noise = Content().substr(0, sizeof(LogHeader));
    for (size_t size = random() % 300; size > 0; --size)
      noise += static_cast<char>(random() % 4 == 0 ? random() : 0);
    const auto log = BranchLog::Parse({noise, "noise"});
    ASSERT_TRUE(log);
    EXPECT_EQ(log->records(), log->All().size());
  }
}

TEST_F(BranchLogTest, WhatIsNoTraceIsAnError) {
  EXPECT_FALSE(BranchLog::Read(path_));
  EXPECT_FALSE(BranchLog::Read(directory_.string()));
  std::ofstream(path_) << "something else, and long enough for a header";
  EXPECT_NE(BranchLog::Read(path_).error().message.find("not a trace"), std::string::npos);
  Write(Few());
  std::string other = Content();
  other[8] = 9;
  EXPECT_NE(BranchLog::Parse({other, "x"}).error().message.find("version 9"), std::string::npos);
  EXPECT_FALSE(BranchLog::Read(path_, 10));
}

TEST_F(BranchLogTest, AFullDiskIsAnError) {
  BranchWriter writer;
  EXPECT_EQ(writer.Open("/dev/full", {}).error().message,
            "cannot write /dev/full: No space left on device");
  ASSERT_TRUE(writer.Open(path_, {}));
  const FileSizeLimit full(10'000);
  for (const Branch& branch : Many(100'000, 8)) writer.Add(branch);
  EXPECT_EQ(writer.Close(1).error().message, path_ + " is not complete: No space left on device");
}

}  // namespace
}  // namespace jprof::profile
