#include "profile/series/series.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <random>

#include "profile/files/file_list.h"
#include "profile/log/log_writer.h"
#include "profile/series/series_cursor.h"
#include "profile/series/series_encoder.h"
#include "profile/series/series_format.h"
#include "tests/unit/profile/synthetic_profile.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;
using enum FrameKind;

constexpr uint64_t kSecond = 1'000'000'000;

// A program that writes a profile, with a snapshot whenever the test wants one.
class SeriesTest : public testing::Test {
 protected:
  SeriesTest()
      : directory_(fs::path(testing::TempDir()) / ("series-" + std::to_string(getpid()))),
        encoder_(uint64_t{1} << 30) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    profile_.header.start_unix_ns = 1000 * kSecond;
    EXPECT_TRUE(file_.Open(directory_ / kSeriesFile, kSeriesFormat,
                           {.start_unix_ns = 1000 * kSecond, .start_ns = kSecond}));
  }
  ~SeriesTest() override { fs::remove_all(directory_); }

  void Snapshot(bool last = false) { SnapshotBy(encoder_, last); }

  void SnapshotBy(SeriesEncoder& encoder, bool last) {
    std::string control(kControlHeaderBytes, '\0');
    profile_.header.node_count = profile_.nodes.size();
    std::memcpy(control.data(), &profile_.header, sizeof(profile_.header));
    control.append(reinterpret_cast<const char*>(profile_.threads.data()),
                   profile_.threads.size() * sizeof(ThreadRecord));
    std::vector<int64_t> extra = profile_.extra;
    ProfileMemory memory = {.control = control.data(),
                            .nodes = profile_.nodes.data(),
                            .extra = extra.data(),
                            .control_bytes = control.size(),
                            .node_count = profile_.nodes.size(),
                            .extras = profile_.header.metric_count - 1};
    const ProfileMemory now = memory;
    if (later_) {
      memory.later = [&] {
        later_();
        return now;
      };
    }
    auto snapshot = encoder.Take(memory, kSecond, 0, last);
    ++snapshots_;
    file_.Write({.records = snapshot.records,
                 .begin_ns = snapshots_ * kSecond,
                 .end_ns = (snapshots_ + 1) * kSecond},
                snapshot.content);
  }

  void Finish() {
    Snapshot(true);
    EXPECT_TRUE(file_.Close((snapshots_ + 1) * kSecond));
    profile_.Write(directory_);
  }

  Reader Open() {
    auto reader = Reader::Open(directory_);
    EXPECT_TRUE(reader) << reader.error().message;
    return *std::move(reader);
  }
  CallTree Tree(const std::string& window) {
    Reader reader = Open();
    const auto done = RestrictTo(reader, window);
    EXPECT_TRUE(done) << done.error().message;
    auto tree = reader.ReadTree();
    EXPECT_TRUE(reader.damages().empty()) << reader.damages().Lines().front();
    return *std::move(tree);
  }
  std::string Problem(const std::string& window) {
    Reader reader = Open();
    const auto done = RestrictTo(reader, window);
    return done ? "" : done.error().message;
  }

  const fs::path directory_;
  SyntheticProfile profile_;
  SeriesEncoder encoder_;
  LogWriter file_;
  uint64_t snapshots_ = 0;
  std::function<void()> later_;  // what the program does while a snapshot is taken
};

uint64_t Calls(const CallTree& tree) {
  uint64_t calls = 0;
  for (const Counts& counts : tree.counts) calls += counts.entries[0] + uint64_t{counts.entries[1]};
  return calls;
}

TEST_F(SeriesTest, AWindowHasWhatWasCountedInItAndNothingElse) {
  const MethodId a = profile_.AddMethod("pkg/A", "first", "()V");
  const MethodId b = profile_.AddMethod("pkg/B", "second", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  for (int i = 0; i < 3; ++i) {
    profile_.Enter(thread, a, kInterpreted, 5);
    profile_.Exit(thread, 10);
  }
  Snapshot();
  for (int i = 0; i < 4; ++i) {
    profile_.Enter(thread, b, kInterpreted, 5);
    profile_.Exit(thread, 100);
  }
  Finish();

  const CallTree first = Tree("..1s"), second = Tree("1s.."), both = Tree("0s..2s");
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first.ref[1], PackMethod(kInterpreted, a));
  EXPECT_EQ(first.metrics[0], (std::vector<int64_t>{15, 30}));
  EXPECT_EQ(Calls(first), 3u);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second.ref[1], PackMethod(kInterpreted, b));
  EXPECT_EQ(second.metrics[0], (std::vector<int64_t>{20, 400}));
  EXPECT_EQ(Calls(second), 4u);
  EXPECT_EQ(Calls(both), 7u);
  Reader reader = Open();
  EXPECT_EQ(both.metrics, reader.ReadTree()->metrics);
}

TEST_F(SeriesTest, HeaderAndThreadsAreThoseOfTheWindow) {
  profile_.AddThread("main", 7);
  profile_.threads[0].samples = 10;
  profile_.header.timed_intervals = profile_.header.untimed_ticks = 20;
  Snapshot();
  profile_.threads[0].samples = 25;
  profile_.threads[0].own_ticks = 7;
  profile_.header.lost_events = 3;
  profile_.header.timed_intervals = profile_.header.untimed_ticks = 50;
  Finish();
  Reader reader = Open();
  ASSERT_TRUE(RestrictTo(reader, "1s..2s"));
  EXPECT_EQ(reader.threads()[0].record.samples, 15u);
  EXPECT_EQ(reader.threads()[0].record.own_ticks, 7);
  EXPECT_EQ(reader.header().lost_events, 3u);
  EXPECT_EQ(reader.header().timed_intervals, 30u);
  EXPECT_EQ(reader.header().untimed_ticks, 30u);
  EXPECT_EQ(reader.header().end_ticks - reader.header().start_ticks, kSecond);
  EXPECT_EQ(reader.window()->Text(),
            "1.000 s to 2.000 s of the recording (snapshot 1 to snapshot 2; asked for: 1s..2s)");
  Reader before = Open();
  ASSERT_TRUE(RestrictTo(before, "..1s"));
  EXPECT_EQ(before.threads()[0].record.samples, 10u);
  EXPECT_EQ(before.header().lost_events, 0u);
}

TEST_F(SeriesTest, TimedIntervalsAreThoseOfTheWindow) {
  profile_.AddThread("main", 7);
  const auto count = [this](uint64_t to) {
    ControlHeader& header = profile_.header;
    header.timed_intervals = header.sampled_intervals = to;
    header.sampled_ticks = header.sampled_squares = header.untimed_ticks = 10 * to;
  };
  count(3);
  Snapshot();
  count(5);
  Finish();
  Reader reader = Open();
  ASSERT_TRUE(RestrictTo(reader, "1s..2s"));
  const ControlHeader& header = reader.header();
  EXPECT_EQ(header.timed_intervals, 2u);
  EXPECT_EQ(header.sampled_intervals, 2u);
  EXPECT_EQ(header.sampled_ticks, 20u);
  EXPECT_EQ(header.sampled_squares, 20u);
  EXPECT_EQ(header.untimed_ticks, 20u);
}

TEST_F(SeriesTest, SupersededRecordsGetWhatTheirNodeHadCounted) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  const uint32_t node =
      profile_.AddNode(PackMethod(kInterpreted, a), profile_.threads[thread].root);
  profile_.nodes[node].entries[0] = 40;
  Snapshot();
  const uint32_t record = profile_.AddNode(PackMethod(kInterpreted, a), node);
  profile_.nodes[record].entries[0] = 50;
  profile_.nodes[record].more = kSuperseded;
  profile_.nodes[node].ref = PackMethod(kJitted, a);
  profile_.nodes[node].entries[0] = 7;
  Finish();
  const auto entries = [](const CallTree& tree) {
    std::map<char, uint32_t> sums;
    for (size_t i = 0; i < tree.size(); ++i)
      if (tree.counts[i].entries[0] != 0)
        sums[TypeOf(tree.ref[i]) == kJitted ? 'J' : 'I'] += tree.counts[i].entries[0];
    return sums;
  };
  EXPECT_EQ(entries(Tree("..1s")), (std::map<char, uint32_t>{{'I', 40}}));
  EXPECT_EQ(entries(Tree("1s..2s")), (std::map<char, uint32_t>{{'I', 10}, {'J', 7}}));
  EXPECT_EQ(entries(Tree("..2s")), (std::map<char, uint32_t>{{'I', 50}, {'J', 7}}));
}

TEST_F(SeriesTest, WhatIsMovingWhileASnapshotIsTakenIsNotCountedTwiceOrLost) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  const uint32_t node =
      profile_.AddNode(PackMethod(kInterpreted, a), profile_.threads[thread].root);
  profile_.nodes[node].entries[0] = 40;
  Snapshot();
  // The record is made, and the node is not yet 0.
  const uint32_t record = profile_.AddNode(PackMethod(kInterpreted, a), node);
  profile_.nodes[record].entries[0] = profile_.nodes[node].entries[0] = 50;
  profile_.nodes[record].more = kSuperseded;
  Snapshot();
  profile_.nodes[node].entries[0] = 1;
  Snapshot();
  // The node is 0, and the snapshot does not see the record.
  const uint32_t unseen = profile_.AddNode(kNoMethodRef, 0);
  profile_.nodes[node].entries[0] = 0;
  Snapshot();
  profile_.nodes[unseen] = {.ref = PackMethod(kInterpreted, a), .parent = node};
  profile_.nodes[unseen].more = kSuperseded;
  profile_.nodes[unseen].entries[0] = 3;
  Finish();
  EXPECT_EQ(Calls(Tree("..1s")), 40u);
  EXPECT_EQ(Calls(Tree("1s..2s")), 10u);
  EXPECT_EQ(Calls(Tree("2s..3s")), 0u);  // the new count may be older than the record
  EXPECT_EQ(Calls(Tree("3s..4s")), 0u);
  EXPECT_EQ(Calls(Tree("4s..5s")), 3u);
  EXPECT_EQ(Calls(Tree("0s..")), 53u);
}

TEST_F(SeriesTest, RecordsThatAppearOutOfOrderAreInOrderInTheFile) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const MethodId b = profile_.AddMethod("pkg/B", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  const uint32_t root = profile_.threads[thread].root;
  const uint32_t of_a = profile_.AddNode(PackMethod(kJitted, a), root);
  const uint32_t of_b = profile_.AddNode(PackMethod(kJitted, b), root);
  const uint32_t unseen = profile_.AddNode(kNoMethodRef, 0);
  const uint32_t seen = profile_.AddNode(PackMethod(kInterpreted, a), of_a);
  profile_.nodes[seen].entries[0] = 5;
  profile_.nodes[seen].more = kSuperseded;
  later_ = [&] {
    profile_.nodes[unseen] = {.ref = PackMethod(kInterpreted, b), .parent = of_b};
    profile_.nodes[unseen].entries[0] = 3;
    profile_.nodes[unseen].more = kSuperseded;
  };
  Snapshot();
  later_ = nullptr;
  Finish();
  EXPECT_EQ(Calls(Tree("..1s")), 8u);
  EXPECT_EQ(Calls(Tree("0s..")), 8u);
}

TEST_F(SeriesTest, ANodeThatHasLostItsCountsIsLeftToTheNextSnapshot) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  const uint32_t node =
      profile_.AddNode(PackMethod(kInterpreted, a), profile_.threads[thread].root);
  const uint32_t record = profile_.AddNode(kNoMethodRef, 0);  // a snapshot does not see it yet
  profile_.nodes[node].entries[0] = 40;
  Snapshot();
  profile_.nodes[node].entries[0] = 2;
  Snapshot();
  profile_.nodes[record] = {.ref = PackMethod(kInterpreted, a), .parent = node};
  profile_.nodes[record].more = kSuperseded;
  profile_.nodes[record].entries[0] = 45;
  Finish();
  EXPECT_EQ(Calls(Tree("..1s")), 40u);
  EXPECT_EQ(Calls(Tree("1s..2s")), 0u);
  EXPECT_EQ(Calls(Tree("2s..3s")), 7u);
}

// Records the values of each node of the window, by its index in the file.
using RecordValues = std::map<uint32_t, std::vector<int64_t>>;
RecordValues ValuesOf(const NodeGains& gains, const std::vector<Node>& nodes) {
  RecordValues values;
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    Node node = nodes[i];
    int64_t extra[1] = {};
    EXPECT_TRUE(gains.Apply(i, node, extra)) << i;
    values[i] = {node.entries[0], node.entries[1], node.exits[0], node.exits[1],
                 node.self,       node.dispatches, extra[0]};
    if (HasWideCount(node)) values[i][2] = values[i][3] = 0;
    if (HasNoCounts(node)) std::fill_n(values[i].begin(), 4, 0);
  }
  return values;
}

// Random changes of all kinds of nodes: each window is the sum of its intervals, and all are what
// is in the files.
TEST_F(SeriesTest, SumsOfRandomWindowsAreExact) {
  std::mt19937 random(7);
  profile_.header.metric_count = 2;
  profile_.meta.replace(profile_.meta.find(R"("kind":"time"}])"), 15,
                        R"("kind":"time"},{"name":"c","unit":"c","scale":1,"kind":"count"}])");
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  std::vector<uint32_t> live;
  constexpr FrameKind kKinds[] = {kInterpreted, kJitted, kWoven, kSite, kClass};
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  constexpr int kIntervals = 12;
  for (int interval = 0; interval < kIntervals; ++interval) {
    for (int step = 0; step < 3000; ++step) {
      if (live.size() < 2000 && below(3) == 0) {
        live.push_back(
            profile_.AddNode(PackMethod(kKinds[below(5)], a), profile_.threads[thread].root));
      }
      if (live.empty()) continue;
      const uint32_t index = live[below(static_cast<uint32_t>(live.size()))];
      Node& node = profile_.nodes[index];
      node.self += below(100);
      node.dispatches += below(2);
      profile_.extra[index] += below(50);
      if (TypeOf(node.ref) == kWoven || TypeOf(node.ref) == kClass) {
        uint64_t count = node.entries[0] | uint64_t{node.entries[1]} << 32;
        count += uint64_t{1} << below(33);
        node.entries[0] = static_cast<uint32_t>(count);
        node.entries[1] = static_cast<uint32_t>(count >> 32);
        node.exits[0] = below(1000);  // a slot
        continue;
      }
      node.entries[below(2)] += below(5);
      node.exits[below(2)] += below(5);
      if (TypeOf(node.ref) == kSite || below(40) != 0) continue;
      const uint32_t record = profile_.AddNode(node.ref, index);
      Node& from = profile_.nodes[index];
      Node& to = profile_.nodes[record];
      to = from;
      to.parent = index;
      to.more = kSuperseded;
      from.entries[0] = from.entries[1] = from.exits[0] = from.exits[1] = from.dispatches = 0;
      from.self = 0;
      profile_.extra[record] = std::exchange(profile_.extra[index], 0);
      from.ref = PackMethod(TypeOf(from.ref) == kInterpreted ? kJitted : kInterpreted, a);
    }
    if (interval + 1 < kIntervals) Snapshot();
  }
  Finish();
  const Reader reader = Open();
  const auto series = Series::Open(reader);
  ASSERT_TRUE(series) << series.error().message;
  ASSERT_EQ(series->intervals().size(), size_t{kIntervals});
  EXPECT_TRUE(series->ended());
  RecordValues final;
  for (uint32_t i = 1; i < profile_.nodes.size(); ++i) {
    const Node& node = profile_.nodes[i];
    final[i] = {node.entries[0], node.entries[1], node.exits[0],    node.exits[1],
                node.self,       node.dispatches, profile_.extra[i]};
    if (HasWideCount(node)) final[i][2] = final[i][3] = 0;
    if (HasNoCounts(node)) std::fill_n(final[i].begin(), 4, 0);
  }
  const auto add = [&](RecordValues& sum, const RecordValues& more) {
    for (const auto& [node, values] : more) {
      auto& sums = sum[node];
      sums.resize(values.size());
      for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
      const Node& kind = profile_.nodes[node];
      if (!HasWideCount(kind)) continue;
      const int64_t count = sums[0] + (sums[1] << 32);
      sums[0] = count & 0xffffffff;
      sums[1] = count >> 32;
    }
  };
  const auto of = [&](size_t first, size_t last) {
    const auto window = series->Load(first, last);
    EXPECT_TRUE(window) << window.error().message;
    return ValuesOf((*window)->nodes, profile_.nodes);
  };
  RecordValues sum, pairs;
  for (size_t i = 0; i < kIntervals; ++i) add(sum, of(i, i + 1));
  for (size_t i = 0; i < kIntervals; i += 3) add(pairs, of(i, i + 3));
  // Windows that are loaded one after another are those that are loaded by themselves.
  for (const size_t step : {1, 3, 5}) {
    for (const size_t first : {0, 2}) {
      auto cursor = SeriesCursor::Open(*series, first, uint64_t{1} << 30);
      ASSERT_TRUE(cursor) << cursor.error().message;
      for (size_t i = first; i < kIntervals; i += step) {
        const size_t last = std::min<size_t>(i + step, kIntervals);
        const auto window = cursor->Next(last), alone = series->Load(i, last);
        ASSERT_TRUE(window && alone);
        EXPECT_EQ(ValuesOf((*window)->nodes, profile_.nodes), of(i, last));
        EXPECT_EQ((*window)->Text(), (*alone)->Text());
        EXPECT_EQ(std::memcmp(&(*window)->end, &(*alone)->end, sizeof(ControlHeader)), 0);
      }
    }
  }
  EXPECT_EQ(sum, final);
  EXPECT_EQ(pairs, final);
  EXPECT_EQ(of(0, kIntervals), final);
}

TEST_F(SeriesTest, WithoutMemoryTheLastSnapshotHasTheRest) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  for (int i = 0; i < 10; ++i) {
    profile_.Enter(thread, a, kInterpreted, 5);
    profile_.Exit(thread, 5);
  }
  SeriesEncoder none(0);
  SnapshotBy(none, false);
  SnapshotBy(none, true);
  ASSERT_TRUE(file_.Close(3 * kSecond));
  profile_.Write(directory_);
  Reader reader = Open();
  ASSERT_TRUE(RestrictTo(reader, "1s..2s"));
  EXPECT_EQ(Calls(*reader.ReadTree()), 10u);
  ASSERT_FALSE(reader.damages().empty());
  EXPECT_TRUE(reader.damages().Lines().front().contains("lack of memory"));
}

TEST_F(SeriesTest, EndsAreThoseOfTheNearestSnapshots) {
  profile_.AddThread("main", 7);
  for (int i = 0; i < 9; ++i) Snapshot();
  Finish();
  const Reader reader = Open();
  const auto series = Series::Open(reader);
  ASSERT_TRUE(series);
  const auto bounds = [&](std::string_view text) {
    const auto found = FindWindow(*series, text);
    return found ? std::pair(found->first, found->last) : std::pair<size_t, size_t>(99, 99);
  };
  EXPECT_EQ(bounds("2s..5s"), std::pair(size_t{2}, size_t{5}));
  EXPECT_EQ(bounds("2.4..4.6"), std::pair(size_t{2}, size_t{5}));
  EXPECT_EQ(bounds("2s..2.1s"), std::pair(size_t{2}, size_t{3}));
  EXPECT_EQ(bounds("1500ms.."), std::pair(size_t{2}, size_t{10}));
  EXPECT_EQ(bounds("..0.1s"), std::pair(size_t{0}, size_t{1}));
  EXPECT_EQ(bounds("20%..50%"), std::pair(size_t{2}, size_t{5}));
  EXPECT_EQ(bounds("9.9s..1m"), std::pair(size_t{9}, size_t{10}));
  for (const char* wrong : {"", "..", "5", "a..b", "3s..2s", "2s..2s", "-1s..2s", "1x..2x", "11s..",
                            "nan..", "1e3..", "1s..2s..3s"})
    EXPECT_EQ(bounds(wrong).first, 99u) << wrong;
}

TEST_F(SeriesTest, WithoutASeriesTheErrorSaysHowToRecordOne) {
  profile_.AddThread("main", 7);
  Finish();
  fs::remove(directory_ / kSeriesFile);
  EXPECT_TRUE(Problem("..1s").contains("record it with --series"));
}

TEST_F(SeriesTest, AControlFileThatClaimsMoreThanTheMemoryIsRefused) {
  profile_.AddThread("main", 7);
  Finish();
  fs::resize_file(directory_ / kControlFile, uint64_t{1} << 42);
  EXPECT_NE(Problem("..1s").find("memory"), std::string::npos) << Problem("..1s");
}

TEST_F(SeriesTest, AWindowThatNeedsMoreThanTheMemoryIsRefused) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  const auto supersede = [&](uint32_t node) {
    const uint32_t record = profile_.AddNode(PackMethod(kInterpreted, a), node);
    profile_.nodes[record].entries[0] = 5;
    profile_.nodes[record].more = kSuperseded;
  };
  for (int i = 0; i < 20'000; ++i)
    supersede(profile_.AddNode(PackMethod(kJitted, a), profile_.threads[thread].root));
  Finish();
  const Reader reader = Open();
  const auto series = Series::Open(reader);
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_TRUE(series->Load(0, 1));
  // The first is for the takeovers, the second for the counts.
  for (const uint64_t memory : {uint64_t{150'000}, uint64_t{1} << 20}) {
    const auto window = series->Load(0, 1, memory);
    ASSERT_FALSE(window) << memory;
    EXPECT_TRUE(window.error().message.contains("memory")) << window.error().message;
  }
}

TEST_F(SeriesTest, DamagedAndTruncatedFilesAreNamed) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  for (int i = 0; i < 4; ++i) {
    profile_.Enter(thread, a, kInterpreted, 5);
    profile_.Exit(thread, 5);
    Snapshot();
  }
  Finish();
  const Reader reader = Open();
  const auto whole = ReadLogFile(directory_ / kSeriesFile, UINT64_MAX, 2);
  ASSERT_TRUE(whole);
  for (size_t size = 0; size < whole->bytes.size(); size += 7) {
    LogBytes cut = {.bytes = whole->bytes.substr(0, size), .name = "series"};
    const auto series = Series::Parse(reader, std::move(cut));
    if (!series) continue;  // not even a header
    EXPECT_FALSE(series->ended());
    for (size_t i = 0; i < series->intervals().size(); ++i) EXPECT_TRUE(series->Load(i, i + 1));
  }
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    LogBytes changed = {.bytes = whole->bytes, .name = "series"};
    for (int i = 0; i < 3; ++i)
      changed.bytes[random() % changed.bytes.size()] = static_cast<char>(random());
    const auto series = Series::Parse(reader, std::move(changed));
    if (!series || series->intervals().empty()) continue;
    (void)series->Load(0, series->intervals().size());
  }
}

}  // namespace
}  // namespace jprof::profile
