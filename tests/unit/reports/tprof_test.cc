#include "reports/ticks/tprof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "profile/files/recording_meta.h"
#include "profile/log/jit_log.h"
#include "reports/quality/quality_of.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

// One process with a thread each for jitted code, which changes its owner at time 500, and for code
// that has no module.
class TprofTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "tprof_XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    directory_ = made;
    std::ofstream(directory_ / profile::kRecordingFile)
        << R"({"sampling":"time, 100 samples/s on each CPU","platform":"Linux","command":"app","notes":["a note"]})";
    std::ofstream(directory_ / "kallsyms")
        << "ffffffff81000000 T start_kernel\nffffffff81001000 t do_idle\nffffffff81002000 T _end\n";
    std::ofstream(directory_ / "perf-16.map") << "7000 100 Foreign.method\n";
    profile::SampleWriter writer;
    ASSERT_TRUE(
        writer.Open((directory_ / profile::kSamplesFile).string(), {.cpus = 2, .start_ns = 0}));
    Comm(writer, 16, 16, "java");
    Comm(writer, 16, 17, "worker");
    for (int i = 0; i < 6; ++i) Sample(writer, 100 + i, 17, 0x7000 + i * 8);
    for (int i = 0; i < 3; ++i) Sample(writer, 600 + i, 16, 0x123456);
    for (int i = 0; i < 1; ++i) Sample(writer, 700 + i, 0, 0xffffffff81001010, true);
    ASSERT_TRUE(writer.Close(1'000'000'000));
  }
  void TearDown() override { fs::remove_all(directory_); }

  static void Comm(profile::SampleWriter& writer, uint32_t pid, uint32_t tid, const char* name) {
    writer.Add({.pid = pid, .tid = tid, .event = profile::ThreadNamed{name}});
  }
  static void Sample(profile::SampleWriter& writer, uint64_t time, uint32_t tid, uint64_t address,
                     bool kernel = false) {
    writer.Add({.time = time,
                .pid = tid == 0 ? 0u : 16u,
                .tid = tid,
                .event = profile::SampleTaken{address, kernel}});
  }

  std::string Print(const TprofOptions& options) {
    auto recording = model::OpenRecording(directory_);
    EXPECT_TRUE(recording) << (recording ? "" : recording.error().message);
    char* text = nullptr;
    size_t size = 0;
    std::FILE* file = open_memstream(&text, &size);
    {
      Output out(file);
      const auto printed = PrintTprof(*recording, options, out);
      EXPECT_TRUE(printed) << (printed ? "" : printed.error().message);
      EXPECT_TRUE(out.Finish());
    }
    std::fclose(file);
    std::string result(text, size);
    free(text);
    return result;
  }

  fs::path directory_;
};

TEST_F(TprofTest, PrintsTheClassicStanzas) {
  const std::string text = Print({.clip = 0});
  EXPECT_NE(text.find(" ticks     10 in all, 0 lost\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find(" quality   fair: 30.0 % of samples are in no known symbol; only 10 samples; a "
                "note\n"),
      std::string::npos)
      << text;
  const char* expected = R"(================================
    )) Process_Thread_Module_Symbol
================================

    LAB        TKS    %%%    NAMES

    PID          9  90.00    java_0010
     TID         6  60.00     tid_worker_0011
      MOD        6  60.00      JITCODE
       SYM       6  60.00       Foreign.method
     TID         3  30.00     tid_java_0010
      MOD        3  30.00      NoModule
       SYM       3  30.00       NoSymbols

    PID          1  10.00    SystemProcess_0000
     TID         1  10.00     tid_idle_0000
      MOD        1  10.00      vmlinux
       SYM       1  10.00       do_idle
)";
  EXPECT_NE(text.find(expected), std::string::npos) << text;
}

TEST_F(TprofTest, ANarrowTerminalLosesNoNumber) {
  const std::string text = Print({.clip = 0, .width = 10});
  EXPECT_NE(text.find("\n       SYM       6  60.00       Foreign.m...\n"), std::string::npos)
      << text;
}

TEST_F(TprofTest, TheQualityIsGradedByShares) {
  auto recording = model::OpenRecording(directory_);
  ASSERT_TRUE(recording);
  model::TickTable table = model::NameTicks(*recording);
  const auto severity = [&](std::string_view name) {
    const Quality quality = QualityOf(*recording, table);
    const auto fact = std::ranges::find(quality.facts, name, &Fact::name);
    return fact == quality.facts.end() ? "none" : std::string(NameOf(fact->severity));
  };
  table.ticks.assign(1000, {.module = 0, .symbol = 1});
  table.names = {"libx.so", "f", "NoSymbols"};
  const auto unresolved = [&](uint64_t count) {
    table.unresolved = count;
    return severity("unresolved");
  };
  EXPECT_EQ(unresolved(0), "none");
  EXPECT_EQ(unresolved(9), "info");
  EXPECT_EQ(unresolved(10), "minor");
  EXPECT_EQ(unresolved(200), "major");
  EXPECT_EQ(severity("without_symbols"), "none");
  for (size_t i = 0; i < 10; ++i) table.ticks[i].symbol = 2;
  EXPECT_EQ(severity("without_symbols"), "minor");
  EXPECT_EQ(severity("samples"), "info");
  table.ticks.resize(99);
  EXPECT_EQ(severity("samples"), "major");
  EXPECT_EQ(severity("samples_lost"), "none");
  EXPECT_EQ(severity("damaged"), "none");
  EXPECT_EQ(severity("note"), "minor");
  recording->notes = {"damaged: jitlog"};
  EXPECT_EQ(severity("damaged"), "severe");
}

TEST_F(TprofTest, ClippedRowsAreSummedUp) {
  const std::string text = Print({.clip = 50});
  EXPECT_NE(text.find("    ...          1  10.00    (1 below 50 %)"), std::string::npos) << text;
}

TEST_F(TprofTest, JsonAndCsvHoldEveryTickOnce) {
  EXPECT_NE(Print({.format = Format::kJson})
                .find(R"("module":"JITCODE","symbol":"Foreign.method","ticks":6)"),
            std::string::npos);
  EXPECT_NE(Print({.format = Format::kCsv}).find("java_0010,tid_java_0010,NoModule,NoSymbols,3\n"),
            std::string::npos);
}

TEST_F(TprofTest, WhatIsMissingIsInEveryFormat) {
  const fs::path samples = directory_ / profile::kSamplesFile;
  fs::resize_file(samples, fs::file_size(samples) - 8);
  const std::string json = Print({.format = Format::kJson});
  EXPECT_NE(json.find(R"("notes":["a note"])"), std::string::npos) << json;
  EXPECT_NE(json.find(R"(/samples: cut off or damaged after 12 records)"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("complaints":[)"), std::string::npos) << json;
  for (const Format format : {Format::kCsv, Format::kCollapsed}) {
    testing::internal::CaptureStderr();
    Print({.format = format});
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("jprof: a note\njprof: damaged: "), std::string::npos) << said;
  }
}

TEST_F(TprofTest, ARecordingThatEndsBeforeItBeganTookNoTime) {
  std::fstream samples(directory_ / profile::kSamplesFile,
                       std::ios::in | std::ios::out | std::ios::binary);
  const uint64_t start_ns = 5'000'000'000;
  samples.seekp(offsetof(profile::LogHeader, start_ns));
  samples.write(reinterpret_cast<const char*>(&start_ns), sizeof(start_ns));
  samples.close();
  EXPECT_NE(Print({}).find(" run       0 ns on 2 processors; "), std::string::npos);
}

TEST_F(TprofTest, WhatIsNoRecordingIsWrongUse) {
  EXPECT_EQ(model::OpenRecording("/nonexistent").error().kind, Error::Kind::kWrongUse);
  fs::remove(directory_ / profile::kSamplesFile);
  EXPECT_EQ(model::OpenRecording(directory_).error().kind, Error::Kind::kWrongUse);
}

TEST_F(TprofTest, ARecordingWithoutItsDescriptionStillReports) {
  fs::remove(directory_ / profile::kRecordingFile);
  EXPECT_NE(Print({.clip = 0}).find("recording.json is missing"), std::string::npos);
}

}  // namespace
}  // namespace jprof::reports
