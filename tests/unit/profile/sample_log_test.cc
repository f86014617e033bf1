#include "profile/log/sample_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/profile/file_size_limit.h"

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
    writer.AddLost(3);
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
  ASSERT_EQ(log->entries().size(), 5u);
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
}

// Writes `count` records, in several packets.
std::string WriteMany(const std::string& path, size_t count, bool end) {
  SampleWriter writer;
  EXPECT_TRUE(writer.Open(path, {.cpus = 2}));
  const uint64_t chain[] = {0x1000, 0x2000};
  for (size_t i = 0; i < count; ++i)
    writer.Add({i, 7, 7, 0, SampleTaken{i, false, std::span(chain).first(i % 3)}});
  if (end) {
    EXPECT_TRUE(writer.Close(count));
  }
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(SampleLogTest, ARecordingThatWasCutOffReadsUpToThere) {
  const std::string whole = WriteMany(path_, 200, true);
  size_t last = 0;
  for (size_t size = sizeof(LogHeader); size < whole.size(); ++size) {
    const auto log = SampleLog::Parse({whole.substr(0, size), "cut"});
    ASSERT_TRUE(log) << size;
    EXPECT_EQ(log->damages().size(), 1u) << size;
    EXPECT_GE(log->entries().size(), last);
    last = log->entries().size();
  }
  EXPECT_EQ(last, 200u);
}

TEST_F(SampleLogTest, AKilledWriterLosesItsLastPacketOnly) {
  const auto log = SampleLog::Parse({WriteMany(path_, 1000, false), "killed"});
  ASSERT_TRUE(log);
  EXPECT_GT(log->entries().size(), 1000u - 64);
  EXPECT_EQ(log->damages(),
            std::vector{
                fmt::format("killed: cut off or damaged after {0} records ({1} of {1} bytes read)",
                            log->entries().size(), fs::file_size(path_))});
}

TEST_F(SampleLogTest, DamageIsFoundAndNothingWrongIsRead) {
  const std::string whole = WriteMany(path_, 200, true);
  for (size_t at = sizeof(LogHeader); at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x21);
    const auto log = SampleLog::Parse({damaged, "damaged"});
    ASSERT_TRUE(log);
    EXPECT_FALSE(log->damages().empty()) << at;
    for (const SampleEntry& entry : log->entries())
      EXPECT_EQ(std::get<SampleTaken>(entry.event).address, entry.time);
  }
}

// Makes a log with one packet whose check is right.
std::string WithContent(std::string_view content, uint32_t records) {
  LogPacket packet{.records = records};
  SealPacket(packet, {&content, 1});
  std::string bytes(BytesOf(HeaderOf(kSampleFormat, {})));
  return bytes.append(BytesOf(packet)).append(content);
}

TEST(SampleLog, HostileRecordsAreLeftOut) {
  const auto read = [](const SampleFileRecord& record, uint32_t records = 1) {
    const auto log = SampleLog::Parse({WithContent(BytesOf(record), records), "x"});
    EXPECT_EQ(log->damages().size(), log->entries().empty() ? 2u : 1u);
    return log->entries().size();
  };
  EXPECT_EQ(read({}), 1u);
  EXPECT_EQ(read({}, 2), 0u);
  EXPECT_EQ(read({}, 0xffffffff), 0u);
  EXPECT_EQ(read({.chain = 1}), 0u);
  EXPECT_EQ(read({.kind = SampleKind::kComm, .text = 1}), 0u);
  EXPECT_EQ(read({.kind = SampleKind::kMap}), 0u);
  EXPECT_EQ(read({.kind = static_cast<SampleKind>(5)}), 0u);
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

TEST_F(SampleLogTest, AFullDiskIsAnError) {
  SampleWriter writer;
  EXPECT_EQ(writer.Open("/dev/full", {}).error().message,
            "cannot write /dev/full: No space left on device");
  ASSERT_TRUE(writer.Open(path_, {}));
  const FileSizeLimit full(10'000);
  for (int i = 0; i < 10000; ++i) writer.Add({.event = ThreadNamed{"a name"}});
  EXPECT_EQ(writer.Close(1).error().message, path_ + " is not complete: No space left on device");
}

}  // namespace
}  // namespace jprof::profile
