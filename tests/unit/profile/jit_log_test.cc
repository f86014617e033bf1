#include "profile/log/jit_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <thread>

#include "profile/files/layout.h"
#include "tests/unit/profile/file_size_limit.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

uint64_t test_time = 0;
int64_t TestNow() { return test_time; }

// --- Intervals: events as text, intervals as text

JitEvent Load(uint64_t time, uint64_t address, uint32_t length, std::string_view name) {
  return {.time = time, .code = {.address = address, .length = length, .name = name}};
}
JitEvent Stub(uint64_t time, uint64_t address, uint32_t length, std::string_view name) {
  return {.time = time,
          .code = {.address = address, .length = length, .stub = true, .type = 'O', .name = name}};
}
JitEvent Again(JitEvent event) {
  event.again = true;
  return event;
}
JitEvent Unload(uint64_t time, uint64_t address) {
  return {.time = time, .unload = true, .code = {.address = address}};
}

// "a 100+20 [0,-)": name, address, length, from, to; - is forever.
std::string Text(const std::vector<JitCode>& intervals) {
  std::string text;
  for (const JitCode& code : intervals) {
    text += fmt::format("{} {}+{} [{},{})\n", code.name, code.address, code.length, code.loaded,
                        code.unloaded == kJitForever ? "-" : std::to_string(code.unloaded));
  }
  return text;
}
std::string TextOf(const std::vector<JitEvent>& events) { return Text(JitIntervals(events)); }

void ExpectNoOverlap(const std::vector<JitCode>& intervals) {
  for (size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_LE(intervals[i].loaded, intervals[i].unloaded);
    for (size_t j = 0; j < i; ++j) {
      const JitCode &a = intervals[i], &b = intervals[j];
      const bool in_space = a.address < b.address + b.length && b.address < a.address + a.length;
      const bool in_time = a.loaded < b.unloaded && b.loaded < a.unloaded;
      EXPECT_FALSE(in_space && in_time) << Text({a, b});
    }
  }
}

TEST(JitIntervals, TheFirstCodeReachesBackToAlways) {
  EXPECT_EQ(TextOf({Load(10, 100, 20, "a")}), "a 100+20 [0,-)\n");
}

TEST(JitIntervals, UnloadEnds) {
  EXPECT_EQ(TextOf({Load(10, 100, 20, "a"), Unload(30, 100)}), "a 100+20 [0,30)\n");
}

TEST(JitIntervals, ALoadReachesBackToTheUnloadBefore) {
  EXPECT_EQ(TextOf({Load(10, 100, 20, "a"), Unload(30, 100), Load(50, 100, 20, "b")}),
            "a 100+20 [0,30)\nb 100+20 [30,-)\n");
}

TEST(JitIntervals, ButNotFurtherThanTheLatestOfAllThatStoodThere) {
  EXPECT_EQ(
      TextOf({Load(1, 100, 20, "a"), Load(2, 120, 20, "b"), Load(3, 140, 20, "c"), Unload(10, 100),
              Unload(30, 140), Unload(20, 120), Load(50, 110, 40, "d"), Load(60, 150, 10, "e")}),
      "a 100+20 [0,10)\nb 120+20 [0,30)\nc 140+20 [0,30)\nd 110+40 [30,-)\ne 150+10 [30,-)\n");
}

TEST(JitIntervals, AMissingUnloadIsTheNextLoad) {
  EXPECT_EQ(TextOf({Load(10, 100, 20, "a"), Load(30, 110, 20, "b"), Unload(40, 100)}),
            "a 100+20 [0,30)\nb 110+20 [30,-)\n");
}

TEST(JitIntervals, OneLoadMayEndSeveral) {
  EXPECT_EQ(TextOf({Load(1, 100, 10, "a"), Load(2, 110, 10, "b"), Load(3, 130, 10, "c"),
                    Load(9, 105, 20, "d")}),
            "a 100+10 [0,9)\nb 110+10 [0,9)\nc 130+10 [0,-)\nd 105+20 [9,-)\n");
}

TEST(JitIntervals, NeighboursDoNotTouch) {
  EXPECT_EQ(TextOf({Load(1, 100, 10, "a"), Load(2, 110, 10, "b"), Load(3, 90, 10, "c")}),
            "a 100+10 [0,-)\nb 110+10 [0,-)\nc 90+10 [0,-)\n");
}

TEST(JitIntervals, WhatStoodForNoTimeIsLeftOut) {
  EXPECT_EQ(TextOf({Load(10, 100, 20, "a"), Unload(30, 100), Load(30, 100, 20, "b"),
                    Load(30, 100, 20, "c")}),
            "a 100+20 [0,30)\nc 100+20 [30,-)\n");
  EXPECT_EQ(
      TextOf({Load(10, 100, 20, "a"), Unload(~uint64_t{0}, 100), Load(~uint64_t{0}, 100, 20, "b")}),
      "a 100+20 [0,-)\n");
}

TEST(JitIntervals, UnloadOfNothingIsLeftOut) {
  EXPECT_EQ(TextOf({Unload(5, 100), Load(10, 100, 20, "a"), Unload(20, 101)}), "a 100+20 [0,-)\n");
}

TEST(JitIntervals, DuplicatesAreDropped) {
  EXPECT_EQ(TextOf({Load(10, 100, 20, "a"), Load(20, 100, 20, "a"), Unload(30, 100)}),
            "a 100+20 [0,30)\n");
}

TEST(JitIntervals, RepeatedCodeIsDroppedWhereCodeIsKnown) {
  EXPECT_EQ(
      TextOf({Stub(1, 100, 20, "adapters(0xa)"), Again(Stub(2, 100, 20, "adapters")),
              Again(Stub(2, 90, 100, "around")), Again(Stub(2, 200, 20, "unknown till now"))}),
      "adapters(0xa) 100+20 [0,-)\nunknown till now 200+20 [0,-)\n");
}

TEST(JitIntervals, StubsGiveWayToWhatComesLater) {
  EXPECT_EQ(TextOf({Stub(1, 100, 20, "s"), Load(7, 110, 20, "a")}),
            "s 100+20 [0,7)\na 110+20 [7,-)\n");
}

TEST(JitIntervals, TimesThatGoBackCountAsTheLatest) {
  EXPECT_EQ(TextOf({Load(50, 100, 20, "a"), Unload(40, 100), Load(30, 100, 20, "b")}),
            "a 100+20 [0,50)\nb 100+20 [50,-)\n");
}

TEST(JitIntervals, NeverOverlapForAnyEvents) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<JitEvent> events;
    for (uint64_t time = 1; time < 60; ++time) {
      const uint64_t address = 100 + random() % 64;
      JitEvent event = Load(time + random() % 3, address, static_cast<uint32_t>(1 + random() % 20),
                            random() % 2 ? "a" : "b");
      event.unload = random() % 3 == 0;
      event.again = random() % 8 == 0;
      events.push_back(event);
    }
    ExpectNoOverlap(JitIntervals(events));
  }
}

// --- Files

class JitLogTest : public testing::Test {
 protected:
  JitLogTest() : directory_(fs::path(testing::TempDir()) / ("jitlog-" + std::to_string(getpid()))) {
    fs::remove_all(directory_);
    fs::create_directory(directory_);
    fd_ = open(directory_.c_str(), O_RDONLY | O_DIRECTORY);
    test_time = 1000;
  }
  ~JitLogTest() override {
    close(fd_);
    fs::remove_all(directory_);
  }

  std::string Bytes() const {
    std::ifstream in(directory_ / kJitLogFile, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  JitLog Read() const {
    auto log = ReadJitLog(directory_);
    EXPECT_TRUE(log) << log.error().message;
    return log ? *log : JitLog{};
  }

  // Contains every kind of record.
  void WriteSmallLog(JitLogWriter& writer, bool end = true) {
    ASSERT_TRUE(writer.Open(fd_));
    test_time = 1001;
    writer.Load({.address = 0x900, .length = 256, .stub = true, .type = 'I', .name = "Interpreter"},
                false);
    test_time = 1002;
    writer.Thread(70, kJitNamed, "Finalizer");
    writer.Thread(71, kJitBegan, "pool-1-thread-1");
    test_time = 1010;
    writer.Load({.address = 0x2000,
                 .length = 4,
                 .type = 'R',
                 .level = 4,
                 .class_name = "pkg/A",
                 .name = "run",
                 .signature = "(I)V",
                 .source = "A.java",
                 .lines = kLines,
                 .code = kCode},
                false);
    test_time = 1020;
    writer.Load(
        {.address = 0x3000, .length = 16, .class_name = "B", .name = "b", .signature = "()V"},
        false);
    test_time = 1030;
    writer.Unload(0x2000);
    test_time = 1040;
    writer.Load(
        {.address = 0x2000, .length = 8, .class_name = "C", .name = "c", .signature = "()V"},
        false);
    writer.Thread(71, kJitNamed, "renamed");
    writer.Thread(71, kJitThreadEnded, "");
    test_time = 1050;
    writer.Thread(71, kJitBegan, "another");
    if (end) writer.End();
  }

  static constexpr JitLine kLines[] = {{0, 10, 10}, {2, 77, 11}};
  static constexpr uint8_t kCode[] = {0x90, 0x90, 0x90, 0xc3};
  const fs::path directory_;
  int fd_;
};

TEST_F(JitLogTest, ReadsBackWhatWasWritten) {
  JitLogWriter writer(TestNow);
  WriteSmallLog(writer);
  const JitLog log = Read();
  EXPECT_EQ(log.damages, std::vector<std::string>{});
  EXPECT_EQ(log.header.pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(log.header.start_ns, 1000u);
  EXPECT_TRUE(log.ended);
  EXPECT_EQ(log.end_ns, 1050u);
  EXPECT_EQ(log.discarded, 0u);
  EXPECT_EQ(
      Text(log.code),
      "Interpreter 2304+256 [0,-)\nrun 8192+4 [0,1030)\nb 12288+16 [0,-)\nc 8192+8 [1030,-)\n");
  EXPECT_TRUE(log.code[0].stub);
  EXPECT_EQ(log.code[0].type, 'I');
  const JitCode& run = log.code[1];
  EXPECT_FALSE(run.stub);
  EXPECT_EQ(run.type, 'R');
  EXPECT_EQ(run.level, 4);
  EXPECT_EQ(run.class_name, "pkg/A");
  EXPECT_EQ(run.signature, "(I)V");
  EXPECT_EQ(run.source, "A.java");
  EXPECT_EQ(std::vector(run.lines.begin(), run.lines.end()),
            std::vector(std::begin(kLines), std::end(kLines)));
  EXPECT_EQ(std::vector(run.code.begin(), run.code.end()),
            std::vector(std::begin(kCode), std::end(kCode)));
}

TEST_F(JitLogTest, ThreadsHaveTheirLastNameAndTidsAreReused) {
  JitLogWriter writer(TestNow);
  WriteSmallLog(writer);
  std::string text;
  for (const JitThread& t : Read().threads) {
    text += fmt::format("{} {} [{},{})\n", t.tid, t.name, t.begin,
                        t.end == kJitForever ? "-" : std::to_string(t.end));
  }
  EXPECT_EQ(text, "70 Finalizer [0,-)\n71 renamed [1002,1040)\n71 another [1050,-)\n");
}

TEST_F(JitLogTest, EveryRecordIsThereBeforeTheEnd) {
  JitLogWriter writer(TestNow);
  WriteSmallLog(writer, /*end=*/false);
  const JitLog log = Read();
  EXPECT_FALSE(log.ended);
  EXPECT_EQ(log.code.size(), 4u);
  EXPECT_EQ(log.damages, std::vector<std::string>{});
}

TEST_F(JitLogTest, NothingIsWrittenAfterTheEnd) {
  JitLogWriter writer(TestNow);
  WriteSmallLog(writer);
  const size_t size = Bytes().size();
  writer.Unload(0x3000);
  writer.End();
  EXPECT_EQ(Bytes().size(), size);
}

TEST_F(JitLogTest, AnExistingLogIsNotOverwritten) {
  JitLogWriter first(TestNow), second(TestNow);
  ASSERT_TRUE(first.Open(fd_));
  EXPECT_FALSE(second.Open(fd_));
  second.Unload(1);
  second.End();
}

TEST_F(JitLogTest, SeveralThreadsWriteWholeRecords) {
  JitLogWriter writer;
  ASSERT_TRUE(writer.Open(fd_));
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 500; ++i) {
        writer.Load(
            {.address = (t * 500 + i + 1) * 64, .length = 64, .class_name = "K", .name = "m"},
            false);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  writer.End();
  const JitLog log = Read();
  EXPECT_EQ(log.damages, std::vector<std::string>{});
  EXPECT_EQ(log.code.size(), 2000u);
}

TEST_F(JitLogTest, AFullDiskEndsTheLogAtAWholeRecordAndIsReported) {
  JitLogWriter writer(TestNow);
  ASSERT_TRUE(writer.Open(fd_));
  std::optional<FileSizeLimit> full(1000);
  const std::string name(100, 'x');
  for (uint64_t i = 1; i <= 20; ++i) {
    writer.Load({.address = i * 64, .length = 64, .class_name = name, .name = "m"}, false);
  }
  const JitLog live = Read();
  writer.End();
  full.reset();
  EXPECT_EQ(live.damages, std::vector<std::string>{});
  EXPECT_EQ(live.code.size(), 5u);  // 40 bytes of header, 184 per record
  const JitLog log = Read();
  EXPECT_FALSE(log.ended);  // 1000 - 40 - 5 * 184 = 40: no space for the last packet either
  EXPECT_EQ(Bytes().size(), 40u + 5 * 184);
}

TEST_F(JitLogTest, TheLastPacketReportsLossesIfItFits) {
  JitLogWriter writer(TestNow);
  ASSERT_TRUE(writer.Open(fd_));
  std::optional<FileSizeLimit> full(200);
  const std::string name(100, 'x');
  for (uint64_t i = 1; i <= 20; ++i) {
    writer.Load({.address = i * 64, .length = 64, .class_name = name, .name = "m"}, false);
  }
  writer.End();
  full.reset();
  const JitLog log = Read();
  EXPECT_TRUE(log.ended);
  EXPECT_EQ(log.discarded, 20u);
  EXPECT_EQ(log.damages,
            std::vector<std::string>{"jitlog: the disk was full: 20 records are lost"});
}

// --- Damage

TEST_F(JitLogTest, CutAnywhereItReadsUpToThere) {
  JitLogWriter writer(TestNow);
  WriteSmallLog(writer);
  const std::string bytes = Bytes();
  size_t most = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto log = ParseJitLog(bytes.substr(0, size));
    EXPECT_EQ(log.has_value(), size >= sizeof(LogHeader)) << size;
    if (!log) continue;
    EXPECT_FALSE(log->ended);
    EXPECT_LE(log->damages.size(), 1u);
    EXPECT_GE(log->code.size(), most);
    most = log->code.size();
    ExpectNoOverlap(log->code);
  }
  EXPECT_EQ(most, 4u);
}

TEST_F(JitLogTest, EveryByteMayBeWrong) {
  JitLogWriter writer(TestNow);
  WriteSmallLog(writer);
  const std::string bytes = Bytes();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int wrong : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::string bad = bytes;
      bad[at] = static_cast<char>(wrong);
      const auto log = ParseJitLog(bad);
      if (!log) continue;
      EXPECT_LE(log->code.size(), 4u);
      ExpectNoOverlap(log->code);
      for (const JitCode& code : log->code) {
        EXPECT_LE(code.class_name.data() + code.class_name.size(),
                  log->file->bytes.data() + log->file->bytes.size());
        EXPECT_LE(code.code.size(), code.length);
      }
    }
  }
}

// Makes a log with one record, modified by `change`, in a packet of `records` records.
std::string WithRecord(const std::function<void(JitCodeRecord&)>& change, uint32_t records = 1) {
  JitCodeRecord record;
  record.address = 0x1000;
  record.length = 64;
  change(record);
  LogPacket packet{.records = records};
  const std::string_view content = BytesOf(record);
  SealPacket(packet, {&content, 1});
  std::string bytes(BytesOf(HeaderOf(kJitFormat, {})));
  return bytes.append(BytesOf(packet)).append(content);
}

std::string DamageOf(const std::function<void(JitCodeRecord&)>& change, uint32_t records = 1) {
  const auto log = ParseJitLog(WithRecord(change, records));
  if (!log) return log.error().message;
  return log->damages.empty() ? fmt::format("{} read", log->code.size()) : log->damages[0];
}

TEST(JitLogDamage, HostileSizes) {
  const std::string left_out = "jitlog: damaged records are left out: 1 at byte 40";
  EXPECT_EQ(DamageOf([](JitCodeRecord&) {}), "1 read");
  EXPECT_EQ(DamageOf([](JitCodeRecord& r) { r.line_count = 0xffffffff; }), left_out);
  EXPECT_EQ(DamageOf([](JitCodeRecord& r) { r.code_length = 0xffffffff; }), left_out);
  EXPECT_EQ(DamageOf([](JitCodeRecord& r) { r.class_length = 1; }), left_out);
  EXPECT_EQ(DamageOf([](JitCodeRecord& r) { r.source_length = 0xffff; }), left_out);
  EXPECT_EQ(DamageOf([](JitCodeRecord& r) { r.length = 0; }), left_out);
  EXPECT_EQ(DamageOf([](JitCodeRecord& r) { r.address = ~uint64_t{0} - 8; }), left_out);
  EXPECT_EQ(DamageOf([](JitCodeRecord& r) { r.type = 0; }), left_out);
  EXPECT_EQ(DamageOf([](JitCodeRecord& r) { r.record.kind = static_cast<JitKind>(99); }), "0 read");
  EXPECT_EQ(DamageOf([](JitCodeRecord&) {}, 2),
            "jitlog: damaged records are left out: 2 at byte 40");
}

TEST(JitLogDamage, OtherFilesAndVersions) {
  EXPECT_FALSE(ParseJitLog(""));
  EXPECT_EQ(ParseJitLog(std::string(4096, '\0')).error().message,
            "jitlog is not a log of jitted code");
  std::string other = WithRecord([](JitCodeRecord&) {});
  other[8] = 1;
  const auto log = ParseJitLog(other);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().kind, Error::Kind::kWrongUse);
  EXPECT_EQ(log.error().message,
            "jitlog has version 1, this jprof reads 2: record again with this jprof");
  EXPECT_FALSE(ReadJitLog("/nowhere/at/all"));
}

TEST_F(JitLogTest, RecordsThatAreMissingAreNoticed) {
  JitLogWriter writer(TestNow);
  WriteSmallLog(writer);
  std::string bytes = Bytes();
  LogPacket first;
  std::memcpy(&first, bytes.data() + sizeof(LogHeader), sizeof(first));
  bytes.erase(sizeof(LogHeader), sizeof(first) + first.bytes);
  const auto log = ParseJitLog(bytes);
  ASSERT_TRUE(log);
  EXPECT_EQ(log->damages, std::vector<std::string>{"jitlog: 1 records are missing"});
}

}  // namespace
}  // namespace jprof::profile
