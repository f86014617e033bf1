// The reports of allocated objects.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/reports/merged_profile.h"
#include "tests/unit/reports/sampled_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

Printed PrintOf(SampledProfile profile, const std::string& report, const Options& options) {
  const fs::path directory =
      fs::path(testing::TempDir()) / ("objects-" + std::to_string(getpid()) + ".jprof");
  profile.Write(directory);
  Printed printed = Print(report, directory, options);
  fs::remove_all(directory);
  return printed;
}

std::string BehindHead(const std::string& text) { return text.substr(text.find("\n\n") + 2); }

TEST(ObjectsReport, HasEachClassWithTheMethodsThatAllocateIt) {
  const Printed csv = PrintOf(DemoObjects(), "objects", {.format = Format::kCsv});
  EXPECT_EQ(csv.text,
            "bytes,objects,contexts,class,method,program_method,program_bytes\n"
            "4000,50,1,[C,,,\n"
            "4000,50,1,[C,Demo.work(I)I,,\n"
            "2448,102,2,Demo$Point,,,\n"
            "2400,100,1,Demo$Point,Demo.work(I)I,,\n"
            "48,2,1,Demo$Point,Demo.main([Ljava/lang/String;)V,,\n"
            "72,0,1,(not seen by the probe),,,\n");
}

// A profile whose arrays are allocated by a method of the JDK, which other methods of the JDK call
// for the program: 1,000 bytes outside of it, 3,000 in main, and in work 5,000 and 1,000.
SampledProfile ArraysOfTheJdk() {
  SampledProfile demo = ProfileOfObjects();
  profile::SyntheticProfile& made = demo.made;
  const profile::MethodId main = made.AddMethod("Demo", "main", "([Ljava/lang/String;)V");
  const profile::MethodId work = made.AddMethod("Demo", "work", "(I)I");
  const profile::MethodId string = made.AddMethod("java/lang/String", "getBytes", "()[B");
  const profile::MethodId copy = made.AddMethod("java/util/Arrays", "copyOf", "([BI)[B");
  const profile::MethodId bytes = made.AddMethod("[B", "", "", profile::kMethodClass);
  const size_t thread = made.AddThread("main", 100);
  using enum FrameKind;
  demo.Sample(thread, {{copy, kWoven}, {bytes, kClass}}, {1000, 1});
  demo.Sample(thread, {{main, kWoven}, {copy, kWoven}, {bytes, kClass}}, {3000, 1});
  demo.Sample(thread, {{main, kWoven}, {work, kWoven}, {copy, kWoven}, {bytes, kClass}}, {5000, 1});
  demo.Sample(thread,
              {{main, kWoven}, {work, kWoven}, {string, kWoven}, {copy, kWoven}, {bytes, kClass}},
              {1000, 1});
  return demo;
}

TEST(ObjectsReport, NamesTheMethodOfTheProgramForWhichTheJdkAllocates) {
  const Printed text = PrintOf(ArraysOfTheJdk(), "objects", {});
  EXPECT_EQ(
      BehindHead(text.text),
      "    %             AB             AO    CTX NAME\n"
      "100.0          10000              4      4 --byte[]\n"
      "100.0          10000              4      4   < W:java.util.Arrays.copyOf(byte[], int), "
      "60 % of it in Demo.work(int)\n");
  const Printed csv = PrintOf(ArraysOfTheJdk(), "objects", {.format = Format::kCsv});
  EXPECT_EQ(csv.text,
            "bytes,objects,contexts,class,method,program_method,program_bytes\n"
            "10000,4,4,[B,,,\n"
            "10000,4,4,[B,java/util/Arrays.copyOf([BI)[B,Demo.work(I)I,6000\n");
}

TEST(ObjectsReport, ShowsWhatWasNotSeenHoweverLittleItIs) {
  const Printed printed = PrintOf(DemoObjects(), "objects", {.min_percent = 50});
  EXPECT_EQ(BehindHead(printed.text),
            "    %             AB             AO    CTX NAME\n"
            " 61.3           4000             50      1 --char[]\n"
            " 61.3           4000             50      1   < W:Demo.work(int)\n"
            "  1.1             72              0      1 O:(not seen by the probe)\n"
            "1 more type: --all shows all, --legend explains the columns\n");
  EXPECT_NE(printed.text.find(" not seen  72 bytes of them (1.10 %)"), std::string::npos)
      << printed.text;
}

// Past the memory cap the objects of any class are in rows of overflow.
TEST(ObjectsReport, HasTheBytesPastTheMemoryCap) {
  SampledProfile full = DemoObjects();
  full.Sample(0, {{profile::kOverflowMethod, FrameKind::kWoven}}, {480, 10});
  const Printed csv = PrintOf(std::move(full), "objects", {.format = Format::kCsv});
  EXPECT_NE(csv.text.find("\n480,10,1,(overflow),,,\n"), std::string::npos) << csv.text;
}

// An overflow row of calls alone is none of objects.
TEST(ObjectsReport, HasNoRowOfCallsPastTheMemoryCap) {
  SampledProfile full = DemoObjects();
  full.Sample(0, {{profile::kOverflowMethod, FrameKind::kWoven}}, {0, 0});
  const Printed csv = PrintOf(std::move(full), "objects", {.format = Format::kCsv});
  EXPECT_EQ(csv.text.find("overflow"), std::string::npos) << csv.text;
}

TEST(ObjectsReport, WhatWasNotSeenIsALineOfBytes) {
  for (const std::string metric : {"objects", "bytes"}) {
    const Printed printed = PrintOf(DemoObjects(), "log-rt", {.metric = metric});
    EXPECT_EQ(printed.text.find(" not seen ") != std::string::npos, metric == "bytes")
        << printed.text;
  }
}

TEST(RemovedReport, ComparesWhatIsAskedForWithWhatIsAllocated) {
  const Printed csv = PrintOf(RemovedObjects(), "removed", {.format = Format::kCsv});
  EXPECT_EQ(csv.text,
            "bytes,objects,asked,removed,without_new,contexts,class,method,program_method,"
            "program_bytes\n"
            "0,0,6000000000,6000000000,0,1,Demo$Gone,,,\n"
            "0,0,6000000000,6000000000,0,1,Demo$Gone,Demo.work(I)I,,\n"
            "768,32,110,98,20,2,Demo$Point,,,\n"
            "48,2,100,98,0,1,Demo$Point,Demo.work(I)I,,\n"
            "720,30,10,0,20,1,Demo$Point,Demo.load()V,,\n");
  const Printed text = PrintOf(RemovedObjects(), "removed", {});
  EXPECT_NE(text.text.find("6000000098 objects were asked for by `new` and not allocated; 20 were "
                           "allocated without `new`"),
            std::string::npos)
      << text.text;
}

// What was asked for is no call.
TEST(RemovedReport, OtherReportsHaveItAsAMetric) {
  const Printed csv = PrintOf(RemovedObjects(), "objects", {.format = Format::kCsv});
  EXPECT_TRUE(
      csv.text.starts_with("bytes,objects,asked,contexts,class,method,program_method,"
                           "program_bytes\n768,32,110,2,Demo$Point,,,\n"))
      << csv.text;
  const Printed tree =
      PrintOf(RemovedObjects(), "log-rt", {.all = true, .names = model::NameForm::kJvm});
  EXPECT_EQ(BehindHead(tree.text).substr(0, 70).find("CALLS"), 3u) << tree.text;
  EXPECT_EQ(tree.text.find("6000000000  W:"), std::string::npos) << tree.text;
}

TEST(RemovedReport, NamesTheOptionThatRecordsIt) {
  const Printed printed = PrintOf(DemoObjects(), "removed", {});
  ASSERT_FALSE(printed.result);
  EXPECT_NE(printed.result.error().message.find("jprof objects --removed"), std::string::npos);
}

TEST(ObjectsReport, NeedsObjects) {
  const Printed printed = PrintOf(SpreadSamples({1}), "objects", {});
  ASSERT_FALSE(printed.result);
  EXPECT_NE(printed.result.error().message.find("has no allocated objects"), std::string::npos);
}

// What a method allocates itself is the sum of its rows of classes.
TEST(LogRt, HasTheObjectsOfEachMethod) {
  const Printed printed =
      PrintOf(DemoObjects(), "log-rt", {.all = true, .names = model::NameForm::kJvm});
  EXPECT_EQ(BehindHead(printed.text),
            "LV CALLS       AB      CUM     %       AO NAME\n"
            " 0     0        0     6520 100.0        0 T:main (tid 100)\n"
            " 1     0       48     6448  98.9        2  W:Demo.main([Ljava/lang/String;)V\n"
            " 2     0     6400     6400  98.2      150   W:Demo.work(I)I\n"
            " 3     -     4000     4000  61.3       50    --CHAR[]\n"
            " 3     -     2400     2400  36.8      100    --Demo$Point\n"
            " 2     -       48       48   0.7        2   --Demo$Point\n"
            " 1     0       72       72   1.1        0  O:(not seen by the probe)\n");
}

// 20 objects of 24 bytes more a second, each of which stands for 112 bytes.
TEST(GrowthReport, RanksContextsBySlope) {
  const Printed printed = PrintOf(DemoLive(), "growth", {});
  ASSERT_TRUE(printed.result) << printed.result.error().message;
  EXPECT_EQ(BehindHead(printed.text),
            "        LB/S           +- SURE             LB           LO NAME\n"
            "        2250          618  yes           6749          281 Demo$Point < Demo.work < "
            "Demo.main\n"
            "           0            0   no            225            9 Demo$Point < Demo.main\n");
}

TEST(GrowthReport, DataHasEachSnapshot) {
  const Printed csv = PrintOf(DemoLive(), "growth", {.format = Format::kCsv});
  EXPECT_EQ(csv.text.substr(0, csv.text.find('\n')),
            "bytes_per_second,bytes_arm,certain,objects_per_second,objects_arm,live_bytes_1,"
            "live_bytes_2,live_bytes_3,live_objects_1,live_objects_2,live_objects_3,class,context");
  const Printed json = PrintOf(DemoLive(), "growth", {.format = Format::kJson});
  EXPECT_NE(json.text.find(R"("times_s":[1,2,3])"), std::string::npos) << json.text;
  EXPECT_NE(json.text.find(R"("interval":100)"), std::string::npos) << json.text;
}

TEST(GrowthReport, NeedsThreeSnapshots) {
  const Printed without = PrintOf(DemoObjects(), "growth", {});
  ASSERT_FALSE(without.result);
  EXPECT_NE(without.result.error().message.find("has no live objects"), std::string::npos);
  SampledProfile few = DemoLive();
  few.made.header.live_snapshots = 2;
  const Printed two = PrintOf(std::move(few), "growth", {});
  ASSERT_FALSE(two.result);
  EXPECT_NE(two.result.error().message.find("has 2 snapshots"), std::string::npos);
}

// Damaged records: of nodes that do not exist, of no snapshot, and that end before they begin.
TEST(GrowthReport, LeavesOutDamagedRecords) {
  SampledProfile damaged = DemoLive();
  using profile::LiveRecord;
  damaged.made.live.push_back(LiveRecord{.node = 77, .objects = 1, .first = 1, .last = 3});
  damaged.made.live.push_back(LiveRecord{.node = 3, .objects = 1, .first = 0, .last = 3});
  damaged.made.live.push_back(LiveRecord{.node = 3, .objects = 1, .first = 3, .last = 2});
  damaged.made.live.push_back(
      LiveRecord{.node = 3, .objects = 1, .first = 9, .last = 0xffffffffu, .bytes = 1});
  EXPECT_EQ(PrintOf(std::move(damaged), "growth", {}).text, PrintOf(DemoLive(), "growth", {}).text);
}

// After kill -9, or Runtime.halt with some collectors, there may be none.
TEST(ObjectsReport, WithoutASnapshotLiveObjectsAreMissing) {
  SampledProfile none = DemoLive();
  none.made.live.clear();
  none.made.header.live_snapshots = 0;
  for (const std::string report : {"objects", "log-rt"}) {
    const Printed text = PrintOf(none, report, {});
    EXPECT_NE(text.text.find("not counted: no snapshot was taken"), std::string::npos) << text.text;
    EXPECT_EQ(text.text.find("LB"), std::string::npos) << text.text;
  }
  const Printed csv = PrintOf(none, "objects", {.format = Format::kCsv});
  EXPECT_TRUE(csv.text.starts_with("bytes,objects,contexts,class,method,")) << csv.text;
  const Printed growth = PrintOf(none, "growth", {});
  ASSERT_FALSE(growth.result);
  EXPECT_NE(growth.result.error().message.find("has no snapshot of its live objects"),
            std::string::npos)
      << growth.result.error().message;
}

TEST(ObjectsReport, MergedLiveObjectsAreSums) {
  const fs::path directory =
      fs::path(testing::TempDir()) / ("merged-live-" + std::to_string(getpid()) + ".jprof");
  SampledProfile one = DemoLive(), other = DemoLive();
  one.Finish();
  other.Finish();
  MakeMerged({one.made, other.made}, directory);
  const Printed csv = Print("objects", directory, {.format = Format::kCsv});
  fs::remove_all(directory);
  EXPECT_NE(csv.text.find("\n4800,200,450,,,18,,,1,Demo$Point,Demo.main("), std::string::npos)
      << csv.text;
}

// An interval without width would claim that the number 0 is exact.
TEST(ObjectsReport, WithoutALiveSampleThereIsNoInterval) {
  SampledProfile gone = DemoLive();
  for (profile::LiveRecord& record : gone.made.live)
    if (record.node != 0) record.last = std::min(record.last, record.first == 3 ? 3u : 2u);
  const Printed csv = PrintOf(std::move(gone), "objects", {.format = Format::kCsv});
  EXPECT_NE(csv.text.find(",,,9,,,1,Demo$Point,Demo.main("), std::string::npos) << csv.text;
  EXPECT_EQ(csv.text.find(",,,19,,,"), std::string::npos) << csv.text;
}

TEST(GrowthReport, ShowsTheUsualDurations) {
  SampledProfile late = DemoLive();
  late.made.live[2].bytes = 1'234'000'000'000;
  const Printed printed = PrintOf(std::move(late), "growth", {});
  EXPECT_NE(printed.text.find("the last one 1234 s after the start"), std::string::npos)
      << printed.text;
}

TEST(ObjectsReport, HasTheIntervalsOfLiveObjects) {
  const Printed csv = PrintOf(DemoLive(), "objects", {.format = Format::kCsv});
  EXPECT_EQ(csv.text.substr(0, csv.text.find('\n')),
            "bytes,objects,live_bytes,live_bytes_low,live_bytes_high,live_objects,"
            "live_objects_low,live_objects_high,contexts,class,method,"
            "program_method,program_bytes");
  const Printed text = PrintOf(DemoLive(), "objects", {});
  EXPECT_NE(text.text.find("estimated from one object in 100 bytes"), std::string::npos)
      << text.text;
}

}  // namespace
}  // namespace jprof::reports
