#include "profile/read/reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zstd.h>

#include <random>

#include "profile/files/printable_text.h"
#include "profile/files/sparse_time.h"
#include "profile/read/reader_trace.h"
#include "tests/unit/profile/synthetic_profile.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;
using enum FrameKind;

class ReaderTest : public testing::Test {
 protected:
  ReaderTest()
      : directory_(fs::path(testing::TempDir()) /
                   ("reader-" + std::to_string(getpid()) + ".jprof")) {
    fs::remove_all(directory_);
  }
  ~ReaderTest() override { fs::remove_all(directory_); }

  Reader Open() {
    Result<Reader> reader = Reader::Open(directory_);
    EXPECT_TRUE(reader) << reader.error().message;
    return std::move(*reader);
  }
  Error OpenError() {
    const Result<Reader> reader = Reader::Open(directory_);
    EXPECT_FALSE(reader);
    return reader ? Error{} : reader.error();
  }
  static std::string Damages(const Reader& reader) {
    std::string text;
    for (const std::string& line : reader.damages().Lines()) text += line + "\n";
    return text;
  }

  const fs::path directory_;
  SyntheticProfile profile_;
};

TEST_F(ReaderTest, ReadsBackWhatWasWritten) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const MethodId b = profile_.AddMethod("pkg/B", "twice", "(I)I", kMethodStatic);
  const size_t thread = profile_.AddThread("main", 7);
  profile_.Enter(thread, a, kInterpreted, 5);
  profile_.Enter(thread, b, kJitted, 50);
  profile_.Exit(thread, 3);
  profile_.Exit(thread, 2);
  profile_.Write(directory_, /*slack=*/4096);

  Reader reader = Open();
  const CallTree tree = *reader.ReadTree();
  const Methods methods = reader.ReadMethods();
  EXPECT_EQ(Damages(reader), "");
  ASSERT_EQ(reader.threads().size(), 1u);
  EXPECT_EQ(reader.threads()[0].name, "main");
  EXPECT_EQ(reader.threads()[0].record.tid, 7u);
  EXPECT_EQ(tree.parent, (std::vector<uint32_t>{kNoRecord, 0, 1}));
  EXPECT_EQ(tree.metrics[0], (std::vector<int64_t>{5, 52, 3}));
  EXPECT_EQ(tree.ref[2], PackMethod(kJitted, b));
  EXPECT_EQ(tree.counts[1].entries[0], 1u);
  EXPECT_EQ(tree.counts[1].exits[1], 1u);
  EXPECT_EQ(tree.counts[2].exits[0], 1u);
  EXPECT_EQ(methods[b].class_name, "pkg/B");
  EXPECT_EQ(methods[b].name, "twice");
  EXPECT_EQ(methods[b].signature, "(I)I");
  EXPECT_EQ(methods[b].flags, kMethodStatic);
  EXPECT_EQ(methods[MethodId{999}].name, "");
  EXPECT_EQ(reader.meta().command, (std::vector<std::string>{"java", "Demo"}));
  EXPECT_EQ(reader.meta().fingerprint.at("probe"), "hotspot");
}

TEST_F(ReaderTest, SupersededRecordsKeepTheirTypeAndBelongToTheNode) {
  const MethodId a = profile_.AddMethod("A", "a", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  for (const FrameKind type : {kInterpreted, kJitted}) {
    profile_.Enter(thread, a, type, 1);
    profile_.Exit(thread, 10);
  }
  profile_.Write(directory_);
  Reader reader = Open();
  const CallTree tree = *reader.ReadTree();
  ASSERT_EQ(tree.size(), 3u);
  EXPECT_EQ(tree.superseded, (std::vector<uint8_t>{0, 0, 1}));
  EXPECT_EQ(tree.parent[2], 1u);
  EXPECT_EQ(tree.ref[2], PackMethod(kInterpreted, a));
  EXPECT_EQ(tree.ref[1], PackMethod(kJitted, a));
}

TEST_F(ReaderTest, FurtherMetricsComeFromTheirFile) {
  profile_.header.metric_count = 2;
  profile_.meta =
      R"({"mode":"callflow","metrics":[{"name":"time","unit":"ns","scale":0.5,"kind":"time"},
                     {"name":"PAPI_TOT_INS","unit":"events","scale":1,"kind":"count"}]})";
  const MethodId a = profile_.AddMethod("A", "a", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  profile_.Enter(thread, a, kJitted, 1, 100);
  profile_.Exit(thread, 2, 200);
  profile_.Write(directory_);
  Reader reader = Open();
  const CallTree tree = *reader.ReadTree();
  EXPECT_EQ(Damages(reader), "");
  ASSERT_EQ(tree.metrics.size(), 2u);
  EXPECT_EQ(tree.metrics[1], (std::vector<int64_t>{100, 200}));
  EXPECT_EQ(reader.meta().metrics[0].scale, 0.5);

  fs::resize_file(directory_ / kExtraFile, 8);
  Reader cut = Open();
  EXPECT_EQ(cut.ReadTree()->metrics[1], (std::vector<int64_t>{0, 0}));
  EXPECT_NE(Damages(cut).find("extra: cut off"), std::string::npos);
}

TEST_F(ReaderTest, AnotherVersionIsNamedWithWhatToDo) {
  profile_.header.version = 99;
  profile_.Write(directory_);
  const Error error = OpenError();
  EXPECT_EQ(error.kind, Error::Kind::kWrongUse);
  EXPECT_NE(error.message.find("format 99"), std::string::npos);
  EXPECT_NE(error.message.find("reads format 1"), std::string::npos);
  EXPECT_NE(error.message.find("profile again"), std::string::npos);
}

TEST_F(ReaderTest, WhatIsNoProfileIsAnError) {
  EXPECT_NE(OpenError().message.find("cannot be opened"), std::string::npos);
  fs::create_directory(directory_);
  EXPECT_NE(OpenError().message.find("no file 'control'"), std::string::npos);
  std::ofstream(directory_ / kControlFile) << "something else";
  EXPECT_NE(OpenError().message.find("not a jprof profile"), std::string::npos);
}

TEST_F(ReaderTest, FifoInsteadOfAFileDoesNotHang) {
  profile_.AddThread("main", 1);
  profile_.Write(directory_);
  fs::remove(directory_ / kNodesFile);
  ASSERT_EQ(mkfifo((directory_ / kNodesFile).c_str(), 0600), 0);
  Reader reader = Open();
  EXPECT_EQ(reader.ReadTree()->size(), 0u);
  EXPECT_NE(Damages(reader).find("nodes: cut off"), std::string::npos);
}

TEST_F(ReaderTest, LabelsCountIn64BitsAndHaveNoExitsOfTheirOwn) {
  const MethodId a = profile_.AddMethod("A", "a", "()V");
  const MethodId label = profile_.AddMethod("label", "GET /cart", "", kMethodLabel);
  profile_.AddThread("main", 1);  // node 1
  const uint32_t method = profile_.AddNode(PackMethod(FrameKind::kJitted, a), 1);
  Node& node = profile_.nodes[profile_.AddNode(PackMethod(FrameKind::kLabel, label), method)];
  node.entries[0] = 7;
  node.entries[1] = 1;
  node.exits[0] = 77;
  profile_.Write(directory_);
  Reader reader = Open();
  const CallTree tree = *reader.ReadTree();
  uint64_t sets = 0;
  for (uint32_t i = 2; i < tree.size(); ++i) {
    EXPECT_EQ(tree.counts[i].entries[0], tree.counts[i].exits[0]);
    sets += tree.counts[i].entries[0];
  }
  EXPECT_EQ(sets, 0x1'0000'0007u);
  EXPECT_EQ(tree.parent[2], 1u);
  EXPECT_EQ(Damages(reader), "");
}

TEST_F(ReaderTest, WovenNodesCountIn64Bits) {
  const MethodId a = profile_.AddMethod("A", "a", "()V");
  profile_.AddThread("main", 1);  // node 1
  const auto woven = [&](uint64_t count) {
    Node& node = profile_.nodes[profile_.AddNode(PackMethod(FrameKind::kWoven, a), 1)];
    node.entries[0] = static_cast<uint32_t>(count);
    node.entries[1] = static_cast<uint32_t>(count >> 32);
    node.exits[0] = node.exits[1] = 77;  // not exits
  };
  profile_.nodes[1].exits[0] = 77;
  woven(5);
  woven(0x2'0000'0007);
  woven(uint64_t{1} << 60);
  profile_.Write(directory_);
  Reader reader = Open();
  const CallTree tree = *reader.ReadTree();
  EXPECT_EQ(tree.superseded,
            (std::vector<uint8_t>{0, 0, 0, 1, 1, 0}));  // two parts of the second one
  EXPECT_EQ(tree.counts[0].exits[0], 0u);
  EXPECT_EQ(tree.counts[1].entries[0], 5u);
  EXPECT_EQ(tree.counts[1].exits[0], 5u);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    if (i == 2 || (tree.superseded[i] && tree.parent[i] == 2)) sum += tree.counts[i].entries[0];
  }
  EXPECT_EQ(sum, 0x2'0000'0007u);
  EXPECT_EQ(Damages(reader), "nodes: a count is too large to be true: left out: node 4\n");
}

TEST_F(ReaderTest, BadParentsAreLeftOutAndCounted) {
  const MethodId a = profile_.AddMethod("A", "a", "()V");
  profile_.AddThread("main", 1);                         // node 1
  profile_.AddNode(PackMethod(kJitted, a), 5);           // 2: a parent after it
  profile_.AddNode(PackMethod(kJitted, a), 2);           // 3: below an invalid one
  profile_.AddNode(PackMethod(kJitted, a), 1);           // 4: valid
  profile_.AddNode(PackMethod(kBlock, kRootMethod), 1);  // 5: children, not a context
  profile_.AddNode(PackMethod(kJitted, a), 5);           // 6: its parent is a block
  profile_.AddNode(kNoMethodRef, 0);                     // 7: never used
  profile_.nodes[profile_.AddNode(PackMethod(kInterpreted, MethodId{IndexOf(a) + 1}), 4)].more =
      kSuperseded;  // 8: of another method
  profile_.Write(directory_);
  Reader reader = Open();
  const CallTree tree = *reader.ReadTree();
  EXPECT_EQ(tree.size(), 2u);
  EXPECT_EQ(
      Damages(reader),
      "nodes: a node's parent is wrong: left out with its subtree (4 times), first: node 2\n");
}

TEST_F(ReaderTest, TreesOfNoThreadGetAName) {
  const MethodId a = profile_.AddMethod("A", "a", "()V");
  const size_t thread = profile_.AddThread("main", 1);
  profile_.Enter(thread, a, kJitted, 1);
  profile_.threads[0].root = 77;
  profile_.Write(directory_);
  Reader reader = Open();
  const CallTree tree = *reader.ReadTree();
  ASSERT_EQ(tree.size(), 2u);
  EXPECT_EQ(reader.threads()[IndexOf(tree.thread[1])].name, "(unknown)");
  EXPECT_NE(Damages(reader).find("belongs to no thread record"), std::string::npos);
}

TEST_F(ReaderTest, CutFilesGiveWhatIsLeft) {
  const MethodId a = profile_.AddMethod("A", "a", "()V");
  const MethodId b = profile_.AddMethod("B", "b", "()V");
  for (int i = 0; i < 3; ++i) {
    const size_t thread = profile_.AddThread("t" + std::to_string(i), i);
    profile_.Enter(thread, a, kJitted, 1);
    profile_.Enter(thread, b, kJitted, 1);
  }
  profile_.Write(directory_);
  fs::resize_file(directory_ / kControlFile, kControlHeaderBytes + 2 * sizeof(ThreadRecord) + 100);
  fs::resize_file(directory_ / kNodesFile, 6 * sizeof(Node) + 30);  // of 10
  fs::resize_file(directory_ / kMethodsFile, sizeof(MethodRecord) + 10);
  Reader reader = Open();
  EXPECT_EQ(reader.threads().size(), 2u);
  EXPECT_EQ(reader.ReadTree()->size(), 5u);
  EXPECT_EQ(reader.ReadMethods()[a].name, "a");
  EXPECT_EQ(reader.ReadMethods()[b].name, "");
  EXPECT_NE(Damages(reader).find("control: cut off: thread records are missing: 2 of 3"),
            std::string::npos);
  EXPECT_NE(Damages(reader).find("nodes: cut off"), std::string::npos);
  EXPECT_NE(Damages(reader).find("methods: cut off"), std::string::npos);
}

TEST_F(ReaderTest, MissingMetaIsADamage) {
  profile_.AddThread("main", 1);
  profile_.Write(directory_);
  fs::remove(directory_ / kMetaFile);
  const Reader reader = Open();
  EXPECT_NE(Damages(reader).find("meta.json"), std::string::npos);
  EXPECT_EQ(reader.meta().metrics.size(), 1u);
}

// The error of an estimate must not become too small because a number was damaged.
TEST_F(ReaderTest, ADamagedTimeEveryIsReadAsTheLargest) {
  profile_.AddThread("main", 1);
  const std::string meta = profile_.meta;
  const auto read = [&](const std::string& value, uint64_t timed, uint64_t estimated) {
    profile_.meta = meta;
    const std::string options = R"("options":{)";
    if (!value.empty()) {
      profile_.meta.replace(profile_.meta.find(options), options.size(),
                            options + R"("time_every":)" + value + ",");
    }
    profile_.header.timed_intervals = timed;
    profile_.header.sampled_intervals = estimated;
    fs::remove_all(directory_);
    profile_.Write(directory_);
    const Reader reader = Open();
    const bool damaged = Damages(reader).find("time_every") != std::string::npos;
    return std::pair(reader.meta().options.time_every, damaged);
  };
  const auto whole = [](uint64_t every) { return std::pair(every, false); };
  const std::pair largest(kMostTimeEvery, true);
  EXPECT_EQ(read("", 0, 0), whole(1));
  EXPECT_EQ(read("16", 0, 0), whole(16)) << "a program that was killed at once";
  EXPECT_EQ(read("16", 200, 100), whole(16));
  EXPECT_EQ(read("100", 200, 100), whole(100));
  for (const char* value : {"", "0", "1", "-16", "1.5", "\"16\"", "null", "101"}) {
    EXPECT_EQ(read(value, 200, 100), largest) << value;
    EXPECT_EQ(read(value, 200, 0), largest) << value;
    EXPECT_EQ(read(value, 0, 100), largest) << value;
  }
  EXPECT_EQ(read("18446744073709551615", 0, 0), std::pair(uint64_t{1}, true));
}

// A live profile: methods that were added after the reader opened it have names.
TEST_F(ReaderTest, LiveProfileNamesNewMethods) {
  profile_.AddMethod("A", "a", "()V");
  profile_.header.finished = 0;
  profile_.Write(directory_);
  Reader reader = Open();
  const MethodId late = profile_.AddMethod("B", "late", "()V");
  profile_.Write(directory_);
  EXPECT_EQ(reader.ReadMethods()[late].name, "late");
}

struct Event {
  uint32_t thread;
  MethodRef ref;
  bool exit;
  int64_t delta;
  bool operator==(const Event&) const = default;
};

class TraceTest : public ReaderTest {
 protected:
  // 2 threads, enough events for several blocks each.
  void Record() {
    profile_.with_trace = true;
    const MethodId a = profile_.AddMethod("A", "a", "()V");
    std::mt19937 random(3);
    for (int t = 0; t < 2; ++t) profile_.AddThread("t", t);
    int depth[2] = {};
    for (int i = 0; i < 60000; ++i) {
      const uint32_t thread = random() % 2;
      const int64_t delta = static_cast<int64_t>(random()) - (1ll << 31);
      if (depth[thread] == 0 || random() % 2 == 0) {
        ++depth[thread];
        profile_.Enter(thread, a, kJitted, delta);
        expected_[thread].push_back({thread, PackMethod(kJitted, a), false, delta});
      } else {
        --depth[thread];
        profile_.Exit(thread, delta);
        expected_[thread].push_back({thread, PackMethod(kJitted, a), true, delta});
      }
    }
    profile_.Write(directory_);
  }

  std::vector<Event> Read(uint32_t thread, uint64_t* missing = nullptr) {
    Reader reader = Open();
    std::vector<Event> events;
    const auto done = ReadTrace(reader, [&](const TraceEvent& event) {
      if (event.thread == thread)
        events.push_back({event.thread, event.ref, event.exit, event.delta});
      if (missing != nullptr) *missing += event.missing;
      return true;
    });
    EXPECT_TRUE(done) << done.error().message;
    damages_ = Damages(reader);
    return events;
  }

  std::vector<Event> expected_[2];
  std::string damages_;
};

TEST_F(TraceTest, EveryEventOfEveryThreadInOrder) {
  Record();
  ASSERT_GT(profile_.trace.size(), 6 * size_t{kTraceBlockBytes});
  EXPECT_EQ(Read(0), expected_[0]);
  EXPECT_EQ(Read(1), expected_[1]);
  EXPECT_EQ(damages_, "");
}

// A wrapping writer reuses blocks: the first block in the file may be the newest.
TEST_F(TraceTest, BlocksAreTakenBySequence) {
  Record();
  std::string& trace = profile_.trace;
  trace = trace.substr(3 * kTraceBlockBytes) + trace.substr(0, 3 * kTraceBlockBytes);
  std::ofstream(directory_ / kTraceFile) << trace;
  EXPECT_EQ(Read(0), expected_[0]);
}

TEST_F(TraceTest, GapsAreCounted) {
  Record();
  profile_.trace.erase(kTraceBlockBytes, kTraceBlockBytes);
  std::ofstream(directory_ / kTraceFile) << profile_.trace;
  uint64_t missing = 0;
  const size_t left = Read(0, &missing).size() + Read(1).size();
  EXPECT_GT(missing, 0u);
  EXPECT_EQ(left + missing, expected_[0].size() + expected_[1].size());
  EXPECT_NE(damages_.find("trace: cut off"), std::string::npos);
}

// The continuous writer: frames of one or more blocks; blocks that it has not compressed yet are
// still in `trace`.
TEST_F(TraceTest, CompressedBlocksThenThoseLeft) {
  Record();
  std::string compressed;
  const auto add_frame = [&](size_t first, size_t blocks) {
    std::string frame(ZSTD_compressBound(blocks * kTraceBlockBytes), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(),
                               profile_.trace.data() + first * kTraceBlockBytes,
                               blocks * kTraceBlockBytes, 1));
    compressed += frame;
  };
  add_frame(0, 1);
  add_frame(1, 3);  // truncated below: zstd needs the whole frame
  std::ofstream(directory_ / kCompressedTraceFile) << compressed;
  EXPECT_EQ(Read(0), expected_[0]);
  EXPECT_EQ(Read(1), expected_[1]);
  EXPECT_EQ(damages_, "");

  fs::remove(directory_ / kTraceFile);
  std::ofstream(directory_ / kCompressedTraceFile)
      << compressed.substr(0, compressed.size() - 1000);
  size_t left = 0;  // the first frame's block, of either thread
  for (const uint32_t thread : {0, 1}) {
    const std::vector<Event> events = Read(thread);
    EXPECT_TRUE(std::equal(events.begin(), events.end(), expected_[thread].begin()));
    left += events.size();
  }
  EXPECT_GT(left, 1000u);
  EXPECT_NE(damages_.find("trace.zst: its last frame is cut off"), std::string::npos);
}

TEST_F(TraceTest, WithoutATraceTheErrorStatesHowToRecordOne) {
  profile_.Write(directory_);
  Reader reader = Open();
  const auto done = ReadTrace(reader, [](const TraceEvent&) { return true; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, Error::Kind::kWrongUse);
  EXPECT_NE(done.error().message.find("jprof trace"), std::string::npos);
}

TEST(CleanText, MakesNamesFitToPrint) {
  EXPECT_EQ(CleanText("plain/Name"), "plain/Name");
  EXPECT_EQ(CleanText("a\nb\x1b[31m"), "a?b?[31m");
  EXPECT_EQ(CleanText("a\xe2\x80\xae"
                      "b\xe2\x81\xa6"),
            "a?b?");  // the direction of text
  EXPECT_EQ(CleanText("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(CleanText("\xed\xa0\xbd\xed\xb8\x80"), "\xf0\x9f\x98\x80");  // the JVM's surrogate pair
  EXPECT_EQ(CleanText("\xed\xa0\xbd"), "\xef\xbf\xbd");                  // half of one
  EXPECT_EQ(CleanText("\xff\xc3"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(CleanText("\xc0\x80"), "?");  // NUL in the JVM's encoding
}

}  // namespace
}  // namespace jprof::profile
