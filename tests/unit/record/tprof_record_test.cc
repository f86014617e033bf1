#include "record/tprof/tprof_record.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "profile/files/recording_meta.h"
#include "record/tprof/recording_files.h"
#include "record/tprof/sample_recorder.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;
using ptm::SampleRecord;

std::string TextOf(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TprofRecordTest : public testing::Test {
 protected:
  TprofRecordTest() {
    std::string made = (fs::temp_directory_path() / "jprof-tprof-XXXXXX").string();
    folder_ = mkdtemp(made.data());
  }
  ~TprofRecordTest() override { fs::remove_all(folder_); }

  void Write(const char* name, std::string_view text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  fs::path folder_;
};

TEST(CheckRequest, OptionsThatExcludeEachOther) {
  const std::vector<std::string> command = {"true"};
  EXPECT_TRUE(CheckRequest({}, {}));
  EXPECT_TRUE(CheckRequest({.all = true, .rate = 5}, command));
  EXPECT_TRUE(CheckRequest({.period = 5, .event = "page-faults"}, command));
  for (const auto& [request, words] : std::vector<std::pair<TprofRequest, std::string>>{
           {{.all = true, .pids = {1}}, "-a and -p"},
           {{.pids = {1}}, "either -p or a command"},
           {{.rate = 1, .period = 1, .event = "x"}, "--rate and --period"},
           {{.period = 1}, "--period requires --event"}}) {
    const auto checked = CheckRequest(request, command);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, Error::Kind::kWrongUse);
    EXPECT_NE(checked.error().message.find(words), std::string::npos) << checked.error().message;
  }
}

TEST(SamplingOf, IsByTimeWithoutAnEvent) {
  const auto sampling = SamplingOf({.pids = {4, 5}, .rate = 250, .chains = true});
  ASSERT_TRUE(sampling);
  EXPECT_EQ(sampling->event.name, ptm::CpuClock().name);
  EXPECT_EQ(sampling->rate, 250u);
  EXPECT_TRUE(sampling->chains);
  EXPECT_EQ(sampling->pids, (std::vector<uint32_t>{4, 5}));
  EXPECT_EQ(SamplingOf({})->rate, 100u);
}

TEST(SamplingText, DescribesRateAndEvent) {
  EXPECT_EQ(SamplingText({}), "time, 100 samples/s on each CPU");
  const ptm::EventSpec event = {.name = "X"};
  EXPECT_EQ(SamplingText({.event = event, .rate = 7}), "event X, about 7 samples/s on each CPU");
  EXPECT_EQ(SamplingText({.event = event, .rate = 0, .period = 9}), "event X, every 9");
}

TEST(EntryOf, KeepsTheFieldsOfEachKind) {
  SampleRecord from = {.kind = SampleRecord::Kind::kSample, .kernel = true, .cpu = 3, .pid = 7};
  from.tid = 8;
  from.time = 99;
  from.address = 0x1000;
  const auto sample = EntryOf(from);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->cpu, 3);
  EXPECT_EQ(sample->pid, 7u);
  EXPECT_EQ(sample->tid, 8u);
  EXPECT_EQ(sample->time, 99u);
  EXPECT_TRUE(std::get<profile::SampleTaken>(sample->event).kernel);
  EXPECT_EQ(std::get<profile::SampleTaken>(sample->event).address, 0x1000u);
  from.parent_pid = 6;
  from.lost = 5;
  from.kind = SampleRecord::Kind::kFork;
  EXPECT_EQ(std::get<profile::ThreadForked>(EntryOf(from)->event).parent_pid, 6u);
  from.kind = SampleRecord::Kind::kLost;
  EXPECT_FALSE(EntryOf(from));
  from.kind = SampleRecord::Kind::kSwitch;
  EXPECT_FALSE(EntryOf(from));
}

TEST_F(TprofRecordTest, ExistingProcessesAreRecorded) {
  Write("proc/7/maps",
        "1000-3000 r-xp 00000040 08:02 9      /lib/x.so\n"
        "4000-5000 rw-p 00000000 00:00 0\n"
        "6000-7000 rwxp 00000000 00:00 0\n");
  Write("proc/7/task/7/comm", "java\n");
  Write("proc/7/task/8/comm", "GC thread\n");
  profile::SampleWriter writer;
  const std::string path = folder_ / profile::kSamplesFile;
  ASSERT_TRUE(writer.Open(path, {.cpus = 1}));
  SampleRecorder(writer).AddExisting(7, folder_ / "proc");
  SampleRecorder(writer).AddExisting(99, folder_ / "proc");  // has ended
  ASSERT_TRUE(writer.Close(1));
  const auto log = profile::SampleLog::Read(path);
  ASSERT_TRUE(log) << log.error().message;
  const auto& entries = log->entries();
  ASSERT_EQ(entries.size(), 4u);
  const auto& mapped = std::get<profile::CodeMapped>(entries[0].event);
  EXPECT_EQ(mapped.start, 0x1000u);
  EXPECT_EQ(mapped.length, 0x2000u);
  EXPECT_EQ(mapped.file_offset, 0x40u);
  EXPECT_EQ(mapped.inode, 9u);
  EXPECT_EQ(mapped.path, "/lib/x.so");
  EXPECT_EQ(std::get<profile::CodeMapped>(entries[1].event).path, "//anon");
  EXPECT_EQ(std::get<profile::ThreadNamed>(entries[2].event).name, "java");
  EXPECT_EQ(entries[3].tid, 8u);
  EXPECT_EQ(std::get<profile::ThreadNamed>(entries[3].event).name, "GC thread");
}

TEST_F(TprofRecordTest, OnlySymbolsOfCodeAreKept) {
  Write("all",
        "ffffffff81000000 T _text\nffffffff81000010 t local\nffffffff82000000 D data\n"
        "ffffffff81000020 W weak\n\nx\nffffffff81000030 w weaker\t[module]\n");
  ASSERT_TRUE(KeepKernelSymbols(folder_ / "all", folder_));
  EXPECT_EQ(TextOf(folder_ / "kallsyms"),
            "ffffffff81000000 T _text\nffffffff81000010 t local\nffffffff81000020 W weak\n"
            "ffffffff81000030 w weaker\t[module]\n");
}

TEST_F(TprofRecordTest, HiddenKernelSymbolsAreNotKept) {
  Write("hidden", "0000000000000000 T _text\n0000000000000000 T other\n");
  ASSERT_TRUE(KeepKernelSymbols(folder_ / "hidden", folder_));
  ASSERT_TRUE(KeepKernelSymbols(folder_ / "missing", folder_));
  EXPECT_FALSE(fs::exists(folder_ / "kallsyms"));
}

TEST_F(TprofRecordTest, TheDescriptionIsReplacedAsAWhole) {
  TprofPlan plan = {.out = folder_, .command = "app"};
  ASSERT_TRUE(WriteRecordingMeta(plan, {"first"}));
  ASSERT_TRUE(WriteRecordingMeta(plan, {"second"}));
  const std::string text = TextOf(folder_ / profile::kRecordingFile);
  EXPECT_NE(text.find("second"), std::string::npos);
  EXPECT_EQ(text.find("first"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / (std::string(profile::kRecordingFile) + ".tmp")));
  plan.out = folder_ / "missing";
  const auto written = WriteRecordingMeta(plan, {});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("choose another directory"), std::string::npos);
}

}  // namespace
}  // namespace jprof::record
