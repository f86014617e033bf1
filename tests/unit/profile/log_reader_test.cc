#include "profile/log/log_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "profile/log/log_writer.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

constexpr LogFormat kFormat = {"jproftst", 3, "a log of the test", "test again"};
constexpr LogFormat kLiveFormat = {"jproftst", 3, "a log of the test", "test again", true};

class LogReaderTest : public testing::Test {
 protected:
  LogReaderTest() {
    std::string made = (fs::temp_directory_path() / "log_XXXXXX").string();
    directory_ = mkdtemp(made.data());
    path_ = (directory_ / "log").string();
  }
  ~LogReaderTest() override { fs::remove_all(directory_); }

  // Returns a file with two packets: "one" with a record, "second one" with two.
  std::string Write(bool end = true) {
    LogWriter writer;
    EXPECT_TRUE(writer.Open(path_, kFormat, {.cpus = 2, .start_unix_ns = 9, .start_ns = 5}));
    writer.Write({.records = 1, .pid = 7, .tid = 8, .begin_ns = 10, .end_ns = 10}, "one");
    writer.Discard(4);
    writer.Write({.records = 2, .begin_ns = 11, .end_ns = 20}, "second one");
    writer.Discard(1);
    if (end) {
      EXPECT_TRUE(writer.Close(30));
    }
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Reads a log, whose contents go to `contents_`.
  LogSummary Read(std::string bytes, const LogFormat& format = kFormat) {
    contents_.clear();
    const LogBytes file{std::move(bytes), "log"};
    const auto log = ReadPackets(file, format, [&](const LogPacket&, std::string_view content) {
      if (content == refused_) return false;
      contents_.emplace_back(content.data());  // up to the padding
      return true;
    });
    EXPECT_TRUE(log) << log.error().message;
    return log ? *log : LogSummary{};
  }

  using Texts = std::vector<std::string>;
  static constexpr size_t kFirst = sizeof(LogHeader), kSecond = kFirst + sizeof(LogPacket) + 8,
                          kLast = kSecond + sizeof(LogPacket) + 16;
  fs::path directory_;
  std::string path_, refused_;
  Texts contents_;
};

TEST_F(LogReaderTest, ReadsBackWhatWasWritten) {
  const LogSummary log = Read(Write());
  EXPECT_EQ(contents_, (Texts{"one", "second one"}));
  EXPECT_EQ(log.damages, Texts{});
  EXPECT_TRUE(log.ended);
  EXPECT_EQ(log.records, 3u);
  EXPECT_EQ(log.end_ns, 30u);
  EXPECT_EQ(log.discarded, 5u);
  EXPECT_EQ(log.header.cpus, 2u);
  EXPECT_EQ(log.header.start_unix_ns, 9u);
  EXPECT_EQ(log.header.start_ns, 5u);
}

TEST_F(LogReaderTest, EachPacketIsInTheFileBeforeTheEnd) {
  const std::string bytes = Write(/*end=*/false);
  EXPECT_EQ(bytes.size(), kLast);
  const LogSummary log = Read(bytes);
  EXPECT_FALSE(log.ended);
  EXPECT_EQ(log.end_ns, 20u);
  EXPECT_EQ(log.discarded, 4u);
  EXPECT_EQ(log.damages, Texts{"log: cut off or damaged after 3 records (160 of 160 bytes read)"});
  EXPECT_EQ(Read(bytes, kLiveFormat).damages, Texts{});
}

TEST_F(LogReaderTest, ATruncatedTailIsNamed) {
  const std::string bytes = Write();
  for (const LogFormat& format : {kFormat, kLiveFormat}) {
    EXPECT_EQ(Read(bytes.substr(0, kLast - 1), format).damages,
              Texts{"log: cut off or damaged after 1 records (96 of 159 bytes read)"});
    EXPECT_EQ(contents_, Texts{"one"});
  }
}

TEST_F(LogReaderTest, ADamagedPacketIsLeftOutAndTheNextIsRead) {
  std::string bytes = Write();
  bytes[kFirst + sizeof(LogPacket)] = 'O';
  const LogSummary log = Read(bytes);
  EXPECT_EQ(contents_, Texts{"second one"});
  EXPECT_EQ(log.records, 2u);
  EXPECT_TRUE(log.ended);
  EXPECT_EQ(log.damages, Texts{"log: damaged records are left out: 1 at byte 40"});
}

TEST_F(LogReaderTest, EveryFieldOfAPacketIsChecked) {
  const std::string bytes = Write();
  for (size_t at = kFirst; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 8);
    EXPECT_FALSE(Read(damaged).damages.empty()) << at;
    EXPECT_LT(contents_.size(), at < kLast ? 2u : 3u) << at;
  }
}

TEST_F(LogReaderTest, WhatCannotBeDecodedIsLeftOut) {
  refused_ = std::string("one\0\0\0\0\0", 8);
  const LogSummary log = Read(Write());
  EXPECT_EQ(log.records, 2u);
  EXPECT_EQ(log.damages, Texts{"log: damaged records are left out: 1 at byte 40"});
}

TEST_F(LogReaderTest, AMissingPacketIsNoticed) {
  const LogSummary log = Read(Write().erase(kFirst, kSecond - kFirst));
  EXPECT_EQ(contents_, Texts{"second one"});
  EXPECT_EQ(log.damages, Texts{"log: 1 records are missing"});
}

TEST_F(LogReaderTest, WhatFollowsTheEndIsNamed) {
  EXPECT_EQ(Read(Write() + "more").damages, Texts{"log: 4 bytes after its end"});
}

TEST_F(LogReaderTest, ZerosAreNoEnd) {
  const LogSummary log = Read(Write(false) + std::string(2 * sizeof(LogPacket), '\0'));
  EXPECT_FALSE(log.ended);
  EXPECT_EQ(log.damages, Texts{"log: cut off or damaged after 3 records (160 of 256 bytes read)"});
}

TEST_F(LogReaderTest, OtherFilesAndVersionsAreRefused) {
  const auto refusal = [](const std::string& bytes) {
    return ReadPackets({bytes, "log"}, kFormat,
                       [](const LogPacket&, std::string_view) { return true; })
        .error();
  };
  std::string bytes = Write();
  EXPECT_EQ(refusal("").message, "log is not a log of the test");
  EXPECT_EQ(refusal(bytes.substr(0, kFirst - 1)).message, "log is not a log of the test");
  bytes[8] = 2;
  EXPECT_EQ(refusal(bytes).message,
            "log has version 2, this jprof reads 3: test again with this jprof");
  EXPECT_EQ(refusal(bytes).kind, Error::Kind::kWrongUse);
}

TEST_F(LogReaderTest, AFileIsReadIfTheMemorySuffices) {
  const std::string bytes = Write();
  const auto file = ReadLogFile(path_, 4 * bytes.size(), 4);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->bytes, bytes);
  EXPECT_EQ(file->name, path_);
  EXPECT_EQ(file->unread, 0u);
  EXPECT_FALSE(ReadLogFile(path_, 4 * bytes.size() - 1, 4));
  EXPECT_FALSE(ReadLogFile(directory_.string(), 1 << 20, 4));
  EXPECT_FALSE(ReadLogFile(path_ + "x", 1 << 20, 4));
}

// The profiled process writes parts, other processes write one.
TEST(LogPacketTest, TheCheckDoesNotDependOnThePartsOfTheContent) {
  const std::string content = "a content that is longer than some words";
  for (size_t first = 0; first <= content.size(); ++first) {
    for (size_t second = first; second <= content.size(); second += 3) {
      const std::string_view all = content, parts[] = {all.substr(0, first),
                                                       {},
                                                       all.substr(first, second - first),
                                                       all.substr(second)};
      LogPacket packet{.records = 1};
      const std::string padded = content + std::string(SealPacket(packet, parts));
      EXPECT_EQ(packet.bytes, padded.size());
      EXPECT_TRUE(IsIntact(packet, padded));
    }
  }
}

}  // namespace
}  // namespace jprof::profile
