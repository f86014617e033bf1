#include "profile/log/memory_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

class MemoryLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "memory_XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    directory_ = made;
    path_ = (directory_ / kMemoryFile).string();
  }
  void TearDown() override { fs::remove_all(directory_); }

  void Write(const std::vector<MemoryReference>& references) {
    MemoryWriter writer;
    ASSERT_TRUE(writer.Open(path_, {.start_unix_ns = 3, .start_ns = 5}));
    for (const MemoryReference& reference : references) writer.Add(reference);
    EXPECT_EQ(writer.records(), references.size());
    ASSERT_TRUE(writer.Close(5'000'000));
  }
  std::vector<MemoryReference> Read() {
    const auto log = MemoryLog::Read(path_);
    EXPECT_TRUE(log) << log.error().message;
    std::vector<MemoryReference> all;
    if (!log) return all;
    EXPECT_EQ(log->damages(), damages_);
    log->ForEach([&all](const MemoryReference& one) { all.push_back(one); });
    EXPECT_EQ(log->records(), all.size());
    return all;
  }

  fs::path directory_;
  std::string path_;
  std::vector<std::string> damages_;  // that are expected
};

// A thread's references in the form that real ones have: loops over arrays, calls, long ranges.
std::vector<MemoryReference> ManyReferences(size_t count, uint32_t tid) {
  std::mt19937_64 random(tid);
  std::vector<MemoryReference> all;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t site = random() % 300;
    MemoryReference one = {.time_ns = 1000 + i,
                           .pid = 7,
                           .tid = tid,
                           .code = 0x400000 + site * 5,
                           .address = 0x7f0000000000 + site * 0x10000 + i * 8,
                           .bytes = site % 3 == 0 ? random() % 100'000 + 1 : 8,
                           .access = static_cast<MemoryAccess>(site % 3),
                           .begins = i == 0 || random() % 10'000 == 0};
    if (random() % 1000 == 0) one.address = random();
    if (random() % 1000 == 0) one.code = random() >> 2;
    all.push_back(one);
  }
  return all;
}

// The times are interpolated.
void ExpectAlike(std::vector<MemoryReference> read, std::vector<MemoryReference> written) {
  ASSERT_EQ(read.size(), written.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_NEAR(double(read[i].time_ns), double(written[i].time_ns), 2.0) << i;
    read[i].time_ns = written[i].time_ns;
    ASSERT_EQ(read[i], written[i]) << i;
  }
}

TEST_F(MemoryLogTest, ReadsWhatWasWritten) {
  const auto written = ManyReferences(500'000, 7);
  Write(written);
  ExpectAlike(Read(), written);
}

TEST_F(MemoryLogTest, TimesAreNotInterpolatedOverWaits) {
  auto written = ManyReferences(2000, 7);
  for (size_t i = 500; i < written.size(); ++i) written[i].time_ns += 50'000'000;
  for (size_t i = 1000; i < written.size(); ++i) written[i].time_ns += 1'500'000;
  Write(written);
  ExpectAlike(Read(), written);
}

TEST_F(MemoryLogTest, KeepsTheOrderOfEachThread) {
  const auto one = ManyReferences(100'000, 7), two = ManyReferences(100'000, 8);
  std::vector<MemoryReference> both;
  for (size_t i = 0; i < one.size(); ++i) both.insert(both.end(), {one[i], two[i]});
  Write(both);
  const auto read = Read();
  for (const auto& written : {one, two}) {
    std::vector<MemoryReference> of_thread;
    std::ranges::copy_if(read, std::back_inserter(of_thread), [&](const MemoryReference& any) {
      return any.tid == written.front().tid;
    });
    ExpectAlike(of_thread, written);
  }
}

TEST_F(MemoryLogTest, ExtremeNumbers) {
  const std::vector<MemoryReference> written = {
      {1, 7, 7, ~uint64_t{0} >> 2, ~uint64_t{0}, uint64_t{1} << 47, MemoryAccess::kStore, true},
      {1, 7, 7, 0, 0, 1, MemoryAccess::kLoad, false},
      {1, 7, 7, 0, uint64_t{1} << 63, 2, MemoryAccess::kLoad, false}};
  Write(written);
  ExpectAlike(Read(), written);
}

TEST_F(MemoryLogTest, APieceAfterDamageBeginsABurst) {
  auto written = ManyReferences(500'000, 7);
  for (MemoryReference& one : written) one.begins = false;
  Write(written);
  fs::resize_file(path_, fs::file_size(path_) - 100);
  const auto log = MemoryLog::Read(path_);
  ASSERT_TRUE(log);
  EXPECT_FALSE(log->damages().empty());
  uint64_t count = 0, begins = 0;
  log->ForEach([&](const MemoryReference& one) { ++count, begins += one.begins; });
  EXPECT_EQ(count, log->records());
  EXPECT_GT(count, 100'000u);
  EXPECT_LT(count, 500'000u);
  EXPECT_GT(begins, 5u);
}

// Whatever is changed in the file, reading ends, and what is passed on is part of what was written.
TEST_F(MemoryLogTest, ChangedBytes) {
  Write(ManyReferences(20'000, 7));
  std::ifstream file(path_, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), {});
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    LogBytes changed = {.bytes = good, .name = kMemoryFile};
    for (int k = 0; k < 3; ++k)
      changed.bytes[sizeof(LogHeader) + random() % (good.size() - sizeof(LogHeader))] ^=
          static_cast<char>(1 << random() % 8);
    const auto log = MemoryLog::Parse(std::move(changed));
    if (!log) continue;
    uint64_t count = 0;
    log->ForEach([&](const MemoryReference&) { ++count; });
    EXPECT_EQ(count, log->records());
    EXPECT_FALSE(log->damages().empty());
  }
}

TEST_F(MemoryLogTest, NoSuchLog) {
  EXPECT_FALSE(MemoryLog::Read(path_));
  std::ofstream(path_) << "something else, of more than forty bytes in all";
  EXPECT_FALSE(MemoryLog::Read(path_));
}

}  // namespace
}  // namespace jprof::profile
