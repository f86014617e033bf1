// Recordings of JDK Flight Recorder: what is read of chunks that the test writes, and what damaged
// ones say.
#include <gtest/gtest.h>

#include "profile/import/importer.h"
#include "tests/unit/import/imported_samples.h"
#include "tests/unit/import/jfr_writer.h"

namespace jprof::profile {
namespace {

using Frame = JfrWriter::Frame;

const Frame kMain = {"app/Main", "main", "([Ljava/lang/String;)V", 7, 3, "Interpreted"};
const Frame kWork = {"app/Work", "run", "()V", 42, 17};

JfrWriter TwoStacks() {
  JfrWriter writer;
  writer.samples = {{.thread = "main", .frames = {kWork, kMain}, .ticks = 1000},
                    {.thread = "main", .frames = {kWork, kMain}, .ticks = 2000},
                    {.thread = "other", .frames = {kWork}, .ticks = 3000}};
  return writer;
}

TEST(Jfr, StacksThreadsAndPeriod) {
  for (const bool compressed : {true, false}) {
    JfrWriter writer = TwoStacks();
    writer.compressed = compressed;
    ImportedSamples read(writer.Chunk());
    ASSERT_EQ(read.error(), "");
    EXPECT_EQ(read.stacks(),
              (std::map<std::string, int64_t>{
                  {"main;I app/Main.main([Ljava/lang/String;)V@3:7;R app/Work.run()V@17:42", 2},
                  {"other;R app/Work.run()V@17:42", 1}}));
    const Metric& metric = read.run().meta.metrics.at(0);
    EXPECT_EQ(metric.period.value, 20'000'000u);
    EXPECT_TRUE(metric.is_cpu_samples());
    EXPECT_EQ(read.run().imported.event, "jdk.ExecutionSample");
    EXPECT_EQ(read.run().imported.version, "2.1");
    EXPECT_EQ(read.run().start_unix_ns, JfrWriter::kStartNanos);
  }
}

TEST(Jfr, ACutStackDoesNotBeginAtTheThread) {
  JfrWriter writer = TwoStacks();
  writer.samples[0].truncated = true;
  ImportedSamples read(writer.Chunk());
  EXPECT_EQ(read.stacks().at("main;O (outer frames were not recorded);I "
                             "app/Main.main([Ljava/lang/String;)V@3:7;R app/Work.run()V@17:42"),
            1);
  EXPECT_EQ(read.tree().cut(), 1u);
  EXPECT_EQ(read.tree().threads()[0].cut, 1u);
}

TEST(Jfr, SamplesOfCpuTimeHaveTheirOwnPeriods) {
  JfrWriter writer = TwoStacks();
  writer.cpu_time = true;
  writer.periods = {10'000, 10'000, 20'000};  // ticks of a microsecond
  writer.lost = 5;
  ImportedSamples read(writer.Chunk());
  ASSERT_EQ(read.error(), "");
  const Metric& metric = read.run().meta.metrics.at(0);
  EXPECT_EQ(metric.period.value, 10'000'000u);
  EXPECT_EQ(metric.period.clock, Period::Clock::kCpu);
  EXPECT_EQ(read.stacks().at("other;R app/Work.run()V@17:42"), 2);  // twice the period
  EXPECT_EQ(read.tree().threads()[0].lost, 5u);
  EXPECT_TRUE(read.HasNote("3 samples are biased to safepoints"));
  EXPECT_TRUE(read.HasNote("1 samples have another period than 10000 us"));
}

TEST(Jfr, ChunksAndAnOpenOne) {
  JfrWriter writer = TwoStacks();
  const std::string chunk = writer.Chunk();
  EXPECT_EQ(ImportedSamples(chunk + chunk).tree().samples(), 6u);
  writer.size_in_header = 1;  // as of a JVM that was killed
  const std::string open = writer.Chunk();
  ImportedSamples cut(chunk + open + std::string("\x90\x80\x80\x00\x15", 5));
  ASSERT_EQ(cut.error(), "");
  EXPECT_EQ(cut.tree().samples(), 6u);
  EXPECT_TRUE(cut.HasNote("the recording ends in the middle"));
}

TEST(Jfr, AChunkThatTheJvmStillWrites) {
  std::string chunk = TwoStacks().Chunk();
  chunk[64] = 9;  // how often the header was written; 0 when the chunk is complete
  ImportedSamples read(chunk);
  ASSERT_EQ(read.error(), "");
  EXPECT_EQ(read.tree().samples(), 3u);
  EXPECT_TRUE(read.HasNote("the recording ends in the middle"));
}

TEST(Jfr, ASampleWithoutAStackIsKept) {
  JfrWriter writer = TwoStacks();
  writer.samples[1].frames.clear();
  ImportedSamples read(writer.Chunk());
  EXPECT_EQ(read.stacks().at("main;O (no stack in the imported file)"), 1);
  EXPECT_TRUE(read.HasNote("1 samples have no stack"));
}

TEST(Jfr, TextsThatAreConstants) {
  JfrWriter writer = TwoStacks();
  writer.pools_texts = true;
  ImportedSamples read(writer.Chunk());
  ASSERT_EQ(read.error(), "");
  EXPECT_EQ(read.run().meta.metrics.at(0).period.value, 20'000'000u);
}

// 500^5 fields, none of which takes a byte.
TEST(Jfr, NestedEmptyStructuresEnd) {
  JfrWriter writer = TwoStacks();
  writer.nested_empty = 500;
  const std::string error = ImportedSamples(writer.Chunk()).error();
  EXPECT_TRUE(error.contains("too many fields")) << error;
  writer.nested_empty = 2;
  EXPECT_EQ(ImportedSamples(writer.Chunk()).error(), "");
}

TEST(Jfr, TablesThatNeedMoreThanTheMemoryAreRefused) {
  const std::string chunk = TwoStacks().Chunk();
  size_t refused = 0, read = 0;
  for (uint64_t memory = 1; memory < 1 << 20; memory *= 2) {
    const std::string error = ImportedSamples(chunk, {.memory = memory}).error();
    refused += error.contains("need more than the available memory");
    read += error.empty();
    EXPECT_TRUE(error.empty() || error.contains("memory")) << error;
  }
  EXPECT_GT(refused, 3u);
  EXPECT_GT(read, 3u);
  // Each chunk takes from what the ones before have left.
  uint64_t enough = 1;
  while (!ImportedSamples(chunk, {.memory = enough}).error().empty()) ++enough;
  EXPECT_NE(ImportedSamples(chunk + chunk, {.memory = 2 * enough - 1}).error(), "");
  EXPECT_EQ(ImportedSamples(chunk + chunk, {.memory = 2 * enough}).error(), "");
}

TEST(Jfr, DamageNamesTheOffset) {
  const std::string good = TwoStacks().Chunk();
  EXPECT_EQ(ImportedSamples(good.substr(0, 30)).error(),
            "test: offset 0: the file ends in the header of a chunk");
  std::string version = good;
  version[5] = 1;
  EXPECT_TRUE(ImportedSamples(version).error().starts_with("test: offset 0: version 1.1"));
  std::string event = good;
  event.replace(68, 4, "\xff\xff\xff\x7f");
  EXPECT_EQ(ImportedSamples(event).error(),
            "test: offset 68: an event of 268435455 bytes does not fit into its chunk");
  JfrWriter cut = TwoStacks();
  const std::string head = cut.Chunk().substr(0, 200);  // no metadata yet
  EXPECT_TRUE(ImportedSamples(head).error().contains("has no metadata"))
      << ImportedSamples(head).error();
}

TEST(Jfr, AnEventThatIsNotThere) {
  const std::string error =
      ImportedSamples(TwoStacks().Chunk(), {.event = "jdk.NativeMethodSample"}).error();
  EXPECT_TRUE(error.contains("it has: jdk.ExecutionSample (3)")) << error;
}

}  // namespace
}  // namespace jprof::profile
