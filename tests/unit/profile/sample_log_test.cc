#include "profile/log/sample_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

class SampleLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "samples_XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    directory_ = made;
    path_ = (directory_ / kSamplesFile).string();
  }
  void TearDown() override { fs::remove_all(directory_); }

  void Write(bool end = true) {
    SampleWriter writer;
    ASSERT_TRUE(writer.Open(path_, {.cpus = 2, .start_ns = 5}));
    const uint64_t chain[] = {0x1000, 0x2000, 0x3000};
    writer.Add({30, 7, 8, 1, SampleTaken{0x1000, true, chain}});
    writer.Add(
        {10, 7, 7, 0,
         CodeMapped{0x1000, 0x100, 0x40, 9, "/lib/x.so", std::string_view("\x01\x02\xff", 3)}});
    writer.Add({20, 7, 7, 0, ThreadNamed{"java", true}});
    writer.Add({25, 9, 9, 0, ThreadForked{7}});
    writer.Add({35, 9, 9, 0, ThreadExited{}});
    writer.Add({40, 0, 0, 0, SamplesLost{3}});
    if (end) {
      ASSERT_TRUE(writer.Close(50));
    }
  }

  fs::path directory_;
  std::string path_;
};

TEST_F(SampleLogTest, ReadsBackWhatWasWrittenInOrderOfTime) {
  Write();
  const auto log = SampleLog::Read(path_);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_TRUE(log->damages().empty());
  EXPECT_EQ(log->header().cpus, 2u);
  EXPECT_EQ(log->end_ns(), 50u);
  EXPECT_EQ(log->lost(), 3u);
  ASSERT_EQ(log->entries().size(), 6u);
  const auto& map = std::get<CodeMapped>(log->entries()[0].event);
  EXPECT_EQ(map.path, "/lib/x.so");
  EXPECT_EQ(map.build_id, std::string_view("\x01\x02\xff", 3));
  EXPECT_EQ(map.start, 0x1000u);
  EXPECT_EQ(map.length, 0x100u);
  EXPECT_EQ(map.file_offset, 0x40u);
  EXPECT_EQ(map.inode, 9u);
  const auto& named = std::get<ThreadNamed>(log->entries()[1].event);
  EXPECT_EQ(named.name, "java");
  EXPECT_TRUE(named.by_exec);
  EXPECT_EQ(std::get<ThreadForked>(log->entries()[2].event).parent_pid, 7u);
  const SampleEntry& entry = log->entries()[3];
  EXPECT_EQ(entry.tid, 8u);
  EXPECT_EQ(entry.cpu, 1u);
  const auto& sample = std::get<SampleTaken>(entry.event);
  EXPECT_EQ(sample.address, 0x1000u);
  EXPECT_TRUE(sample.kernel);
  ASSERT_EQ(sample.chain.size(), 3u);
  EXPECT_EQ(sample.chain[2], 0x3000u);
  EXPECT_TRUE(std::holds_alternative<ThreadExited>(log->entries()[4].event));
  EXPECT_EQ(std::get<SamplesLost>(log->entries()[5].event).count, 3u);
}

TEST_F(SampleLogTest, ARecordingThatWasCutOffReadsUpToThere) {
  Write();
  std::ifstream file(path_, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  size_t last = 0;
  for (size_t size = sizeof(LogHeader); size < whole.size(); ++size) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const auto log = SampleLog::Read(path_);
    ASSERT_TRUE(log) << size;
    EXPECT_EQ(log->damages().size(), 1u) << size;
    EXPECT_GE(log->entries().size(), last);
    last = log->entries().size();
  }
  EXPECT_EQ(last, 6u);
}

TEST_F(SampleLogTest, HostileLengthsEndTheReading) {
  Write();
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  for (const uint32_t bytes : {0u, 1u, 63u, 0xffffffffu}) {
    file.seekp(sizeof(LogHeader));
    file.write(reinterpret_cast<const char*>(&bytes), sizeof(bytes)).flush();
    const auto log = SampleLog::Read(path_);
    ASSERT_TRUE(log);
    EXPECT_TRUE(log->entries().empty());
    EXPECT_EQ(log->damages().size(), 1u);
  }
}

TEST_F(SampleLogTest, WhatIsNoRecordingIsAnError) {
  EXPECT_FALSE(SampleLog::Read(path_));
  std::ofstream(path_) << "something else, and long enough for a header";
  EXPECT_NE(SampleLog::Read(path_).error().message.find("not a recording"), std::string::npos);
  Write();
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  const uint32_t version = 9;
  file.seekp(8);
  file.write(reinterpret_cast<const char*>(&version), sizeof(version)).flush();
  EXPECT_NE(SampleLog::Read(path_).error().message.find("version 9"), std::string::npos);
  EXPECT_FALSE(SampleLog::Read(directory_.string()));
}

TEST(SampleWriter, AFullDiskIsAnErrorOfClose) {
  SampleWriter writer;
  if (!writer.Open("/dev/full", {})) GTEST_SKIP() << "no /dev/full";
  for (int i = 0; i < 10000; ++i) writer.Add({.event = ThreadNamed{"a name"}});
  EXPECT_FALSE(writer.Close(1));
}

}  // namespace
}  // namespace jprof::profile
