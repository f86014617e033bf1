#include "profile/sample_log.h"

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
    writer.Add(
        {{.kind = SampleKind::kSample, .cpu = 1, .pid = 7, .tid = 8, .time = 30, .address = 0x1000},
         {},
         {},
         chain});
    writer.Add({{.kind = SampleKind::kMap,
                 .pid = 7,
                 .tid = 7,
                 .time = 10,
                 .address = 0x1000,
                 .length = 0x100,
                 .offset = 0x40,
                 .inode = 9},
                "/lib/x.so",
                std::string_view("\x01\x02\xff", 3),
                {}});
    writer.Add(
        {{.kind = SampleKind::kComm, .exec = 1, .pid = 7, .tid = 7, .time = 20}, "java", {}, {}});
    writer.Add({{.kind = SampleKind::kLost, .time = 40, .address = 3}, {}, {}, {}});
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
  ASSERT_EQ(log->entries().size(), 4u);
  const SampleEntry& map = log->entries()[0];
  EXPECT_EQ(map.text, "/lib/x.so");
  EXPECT_EQ(map.build_id, std::string_view("\x01\x02\xff", 3));
  EXPECT_EQ(map.record.offset, 0x40u);
  EXPECT_EQ(log->entries()[1].text, "java");
  const SampleEntry& sample = log->entries()[2];
  EXPECT_EQ(sample.record.tid, 8u);
  ASSERT_EQ(sample.chain.size(), 3u);
  EXPECT_EQ(sample.chain[2], 0x3000u);
}

TEST_F(SampleLogTest, ARecordingThatWasCutOffReadsUpToThere) {
  Write();
  std::ifstream file(path_, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  size_t last = 0;
  for (size_t size = sizeof(SampleFileHeader); size < whole.size(); ++size) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const auto log = SampleLog::Read(path_);
    ASSERT_TRUE(log) << size;
    EXPECT_EQ(log->damages().size(), 1u) << size;
    EXPECT_GE(log->entries().size(), last);
    last = log->entries().size();
  }
  EXPECT_EQ(last, 4u);
}

TEST_F(SampleLogTest, HostileLengthsEndTheReading) {
  Write();
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  for (const uint32_t bytes : {0u, 1u, 63u, 0xffffffffu}) {
    file.seekp(sizeof(SampleFileHeader));
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
  EXPECT_NE(SampleLog::Read(path_).error().message.find("no recording"), std::string::npos);
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
  for (int i = 0; i < 10000; ++i) writer.Add({{.kind = SampleKind::kComm}, "a name", {}, {}});
  EXPECT_FALSE(writer.Close(1));
}

}  // namespace
}  // namespace jprof::profile
