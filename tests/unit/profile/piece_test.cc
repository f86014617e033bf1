#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>

#include "profile/files/file_list.h"
#include "profile/merge/merge.h"
#include "profile/pieces/piece_gains.h"
#include "profile/pieces/piece_list.h"
#include "profile/pieces/write_piece.h"
#include "profile/read/limits.h"
#include "profile/series/series_encoder.h"
#include "tests/unit/profile/file_size_limit.h"
#include "tests/unit/profile/synthetic_profile.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;
using enum FrameKind;

constexpr uint64_t kOneSecond = 1'000'000'000;

// Calls, exits, dispatches, and the values of the metrics.
using SumsByPath = std::map<std::string, std::vector<int64_t>>;

// A program that writes a profile, of which the test writes pieces.
class PiecesTest : public testing::Test {
 protected:
  PiecesTest()
      : place_(fs::path(testing::TempDir()) / ("piece-" + std::to_string(getpid()))),
        whole_(place_ / "app.jprof"),
        encoder_(uint64_t{1} << 30) {
    fs::remove_all(place_);
    fs::create_directories(place_);
    profile_.header.start_unix_ns = 1'700'000'000 * kOneSecond;
    profile_.header.finished = 0;
  }
  ~PiecesTest() override { fs::remove_all(place_); }

  void Snapshot(bool last = false) {
    std::string control(kControlHeaderBytes, '\0');
    profile_.header.node_count = profile_.nodes.size();
    std::memcpy(control.data(), &profile_.header, sizeof(profile_.header));
    control.append(reinterpret_cast<const char*>(profile_.threads.data()),
                   profile_.threads.size() * sizeof(ThreadRecord));
    const uint64_t extras = profile_.header.metric_count - 1;
    const auto snapshot = encoder_.Take({.control = control.data(),
                                         .nodes = profile_.nodes.data(),
                                         .extra = profile_.extra.data(),
                                         .control_bytes = control.size(),
                                         .node_count = profile_.nodes.size(),
                                         .extras = static_cast<uint32_t>(extras)},
                                        kOneSecond, 0, last);
    ASSERT_TRUE(gains_.Add(snapshot.content, profile_.nodes.size(), control.size(), extras));
    ++snapshots_;
  }

  // Writes what was counted until the last snapshot. The program may have gone on since.
  Result<void> Write() {
    profile_.Write(whole_);
    const fs::path directory = place_ / kPieceNames.Of(pieces_.size() + 1);
    fs::create_directories(directory);
    auto written = WritePiece({.profile = whole_,
                               .directory = directory,
                               .number = pieces_.size() + 1,
                               .of = "app.jprof",
                               .settle = [this](NodeGains& gains) { return Settle(gains); }},
                              gains_.Take(snapshots_ * kOneSecond));
    if (written) {
      gains_.Next();
      pieces_.push_back(directory);
    }
    return written;
  }
  void Piece(bool last = false) {
    Snapshot(last);
    const auto written = Write();
    EXPECT_TRUE(written) << written.error().message;
  }

  bool Settle(NodeGains& gains) {
    bool moved = false;
    for (uint32_t i = 1; i < profile_.nodes.size(); ++i) {
      if (profile_.nodes[i].more != kSuperseded || encoder_.HasTaken(i)) continue;
      moved |= gains.Has(profile_.nodes[i].parent);
      gains.Move(profile_.nodes[i].parent, i);
    }
    return moved;
  }

  // Adds up the contexts by their path, which begins with the thread.
  static void Add(const fs::path& profile, SumsByPath& sums) {
    auto reader = Reader::Open(profile);
    ASSERT_TRUE(reader) << reader.error().message;
    const auto tree = reader->ReadTree(ReadingMemory(), Sites::kNodes);
    const Methods methods = reader->ReadMethods();
    std::vector<std::string> paths;
    for (size_t i = 0; i < tree->size(); ++i) {
      const MethodName name = methods[MethodOf(tree->ref[i])];
      paths.push_back(
          tree->parent[i] == kNoRecord ? reader->threads()[IndexOf(tree->thread[i])].name
          : tree->superseded[i] != 0   ? paths[tree->parent[i]]
                                     : paths[tree->parent[i]] + ";" + std::string(name.class_name) +
                                           "." + std::string(name.name));
      const Counts& counts = tree->counts[i];
      std::vector<int64_t> values = {int64_t{counts.entries[0]} + counts.entries[1],
                                     int64_t{counts.exits[0]} + counts.exits[1],
                                     tree->dispatches[i]};
      for (const auto& metric : tree->metrics) values.push_back(metric[i]);
      auto& sum = sums[paths.back()];
      sum.resize(values.size());
      for (size_t k = 0; k < values.size(); ++k) sum[k] += values[k];
    }
    EXPECT_TRUE(reader->damages().empty()) << reader->damages().Lines().front();
  }
  static SumsByPath SumsOf(const std::vector<fs::path>& profiles) {
    SumsByPath sums;
    for (const fs::path& profile : profiles) Add(profile, sums);
    std::erase_if(sums, [](const auto& item) {
      return std::ranges::all_of(item.second, [](int64_t value) { return value == 0; });
    });
    return sums;
  }
  int64_t CallsOf(const fs::path& profile) {
    int64_t calls = 0;
    for (const auto& [path, values] : SumsOf({profile})) calls += values[0];
    return calls;
  }

  const fs::path place_, whole_;
  SyntheticProfile profile_;
  SeriesEncoder encoder_;
  PieceGains gains_;
  uint64_t snapshots_ = 0;
  std::vector<fs::path> pieces_;
};

TEST_F(PiecesTest, SumsOfPiecesOfARandomProgramAreExact) {
  std::mt19937 random(11);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  profile_.header.metric_count = 2;
  profile_.meta.replace(profile_.meta.find(R"("kind":"time"}])"), 15,
                        R"("kind":"time"},{"name":"c","unit":"c","scale":1,"kind":"count"}])");
  std::vector<MethodId> methods;
  for (int i = 0; i < 8; ++i)
    methods.push_back(profile_.AddMethod("pkg/A", "m" + std::to_string(i), "()V"));
  std::vector<int> depth;
  std::vector<FrameKind> types(methods.size(), kInterpreted);
  for (int piece = 0; piece < 10; ++piece) {
    for (int step = 0; step < 4000; ++step) {
      if (depth.size() < 5 && below(900) == 0) {
        profile_.AddThread("thread " + std::to_string(depth.size() % 3), 7);
        depth.push_back(0);
      }
      if (depth.empty()) continue;
      const size_t thread = below(static_cast<uint32_t>(depth.size()));
      if (depth[thread] > 0 && below(2) == 0) {
        profile_.Exit(thread, below(90), below(9));
        --depth[thread];
      } else if (depth[thread] < 12) {
        const size_t method = below(static_cast<uint32_t>(methods.size()));
        if (below(500) == 0) types[method] = types[method] == kJitted ? kInterpreted : kJitted;
        profile_.Enter(thread, methods[method], types[method], below(90), below(9));
        ++depth[thread];
      }
      profile_.Current(thread).dispatches += below(3) == 0;
      // The program goes on between a snapshot and the writing of its piece.
      if (step == 3900) Snapshot();
    }
    const auto written = Write();
    ASSERT_TRUE(written) << written.error().message;
  }
  profile_.header.finished = 1;
  Piece(/*last=*/true);
  EXPECT_EQ(SumsOf(pieces_), SumsOf({whole_}));
  std::vector<std::string> inputs(pieces_.begin(), pieces_.end());
  const fs::path merged = place_ / "merged.jprof";
  const auto done = Merge({.inputs = inputs, .output = merged});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(SumsOf({merged}), SumsOf({whole_}));
  EXPECT_EQ(Reader::Open(merged)->meta().piece.number, 0u) << "it is no piece any more";
}

TEST_F(PiecesTest, WhatIsCompiledAfterTheSnapshotWasNotWhenItWasCounted) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  for (int i = 0; i < 40; ++i) {
    profile_.Enter(thread, a, kInterpreted, 1);
    profile_.Exit(thread, 1);
  }
  Snapshot();
  profile_.Enter(thread, a, kJitted, 1);
  profile_.Exit(thread, 1);
  ASSERT_TRUE(Write());
  Piece(/*last=*/true);
  auto first = Reader::Open(pieces_[0]);
  const auto tree = first->ReadTree();
  uint64_t interpreted = 0;
  for (size_t i = 0; i < tree->size(); ++i) {
    if (TypeOf(tree->ref[i]) == kInterpreted)
      interpreted += tree->counts[i].entries[0] + tree->counts[i].entries[1];
  }
  EXPECT_EQ(interpreted, 40u);
  EXPECT_EQ(CallsOf(pieces_[0]), 40);
  EXPECT_EQ(CallsOf(pieces_[1]), 1);
}

TEST_F(PiecesTest, ACountBelow0IsKeptForTheNextPiece) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  const uint32_t node =
      profile_.AddNode(PackMethod(kInterpreted, a), profile_.threads[thread].root);
  profile_.nodes[node].entries[0] = 5;
  Snapshot();
  const std::shared_ptr<Window>& window = gains_.Take(kOneSecond);
  window->nodes.At(node).entries[0] = -3;  // as if more had been recorded before than there was
  gains_.Take(kOneSecond);
  EXPECT_EQ(window->nodes.At(node).entries[0], 0);
  gains_.Next();
  profile_.nodes[node].entries[0] = 15;
  Snapshot();
  EXPECT_EQ(gains_.Take(2 * kOneSecond)->nodes.At(node).entries[0], 7);
}

TEST_F(PiecesTest, APieceStatesWhatItIsAPartOfAndWhatItLacks) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t ended = profile_.AddThread("ended", 7), main = profile_.AddThread("main", 8);
  profile_.threads[main].state = kThreadLive;
  profile_.meta.replace(profile_.meta.find(R"("trace_mode")"), 0,
                        R"("distribution":["+pkg.A.run"],)");
  for (const size_t thread : {ended, main}) {
    profile_.Enter(thread, a, kInterpreted, 5);
    profile_.Exit(thread, 10);
  }
  profile_.threads[main].healed = 2;
  profile_.header.lost_events = 4;
  Piece();
  profile_.Enter(main, a, kInterpreted, 5);
  profile_.threads[main].healed = 5;
  profile_.header.lost_events = 7;
  Piece();
  const auto piece = Reader::Open(pieces_[1]);
  const Meta& meta = piece->meta();
  EXPECT_EQ(meta.piece.Text(), "piece 2 of app.jprof: 1.000 s to 2.000 s of the recording");
  EXPECT_EQ(meta.piece.left_out,
            (std::vector<std::string>{"how long single calls took (--distribution)"}));
  EXPECT_TRUE(meta.options.distribution.empty());
  EXPECT_EQ(meta.start, "2023-11-14T22:13:21Z");
  EXPECT_EQ(piece->header().finished, 1u) << "the piece is complete, the program goes on";
  EXPECT_EQ(piece->header().end_ticks - piece->header().start_ticks, kOneSecond);
  EXPECT_EQ(piece->header().lost_events, 3u);
  ASSERT_EQ(piece->threads().size(), 1u) << "the other thread had ended before";
  EXPECT_EQ(piece->threads()[0].name, "main");
  EXPECT_EQ(piece->threads()[0].record.tid, 8u);
  EXPECT_EQ(piece->threads()[0].record.state, kThreadLive);
  EXPECT_EQ(piece->threads()[0].record.healed, 3u);
  EXPECT_EQ(Reader::Open(pieces_[0])->threads().size(), 2u);
  EXPECT_TRUE(piece->is_part());
  const fs::path merged = place_ / "merged.jprof";
  ASSERT_TRUE(Merge({.inputs = {pieces_[0], pieces_[1]}, .output = merged}));
  auto both = Reader::Open(merged);
  EXPECT_EQ(ReadMerged(*both)->notices,
            (std::vector<std::string>{
                "pieces of a recording are without how long single calls took (--distribution)"}));
}

TEST_F(PiecesTest, LimitsOfAPieceAreThoseOfItsTime) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  profile_.meta.replace(profile_.meta.find(R"("trace_mode")"), 0,
                        R"("within":"pkg.A.run","after":10,"begins_paused":true,)");
  const auto piece = [&](uint64_t calls, uint32_t starts) {
    profile_.Enter(thread, a, kInterpreted, 5);
    profile_.Exit(thread, 10);
    profile_.header.gate_calls = calls;
    profile_.header.starts = starts;
    profile_.header.paused = starts == 0 ? 1 : 0;
    Piece();
  };
  piece(4, 0);
  piece(15, 1);
  piece(20, 1);
  const fs::path merged = place_ / "merged.jprof";
  const auto done = Merge({.inputs = {pieces_[0], pieces_[1], pieces_[2]}, .output = merged});
  ASSERT_TRUE(done) << done.error().message;
  const auto limits = [](const fs::path& profile) {
    const auto reader = Reader::Open(profile);
    return LimitsText(reader->meta(), reader->header());
  };
  const std::string within = "only within pkg.A.run", started = "; paused at first, started once";
  EXPECT_EQ(limits(pieces_[0]), within + ", without the first 4 of 4 calls; never started");
  EXPECT_EQ(limits(pieces_[1]), within + ", without the first 6 of 11 calls" + started);
  EXPECT_EQ(limits(pieces_[2]), within);
  EXPECT_EQ(limits(merged), within + ", without the first 10 of 20 calls" + started);
  EXPECT_EQ(limits(whole_), limits(merged));
}

TEST_F(PiecesTest, APieceThatCannotBeWrittenIsInTheNextOne) {
  const MethodId a = profile_.AddMethod("pkg/A", "run", "()V");
  const size_t thread = profile_.AddThread("main", 7);
  const auto call = [&](int times) {
    for (int i = 0; i < times; ++i) {
      profile_.Enter(thread, a, kInterpreted, 5);
      profile_.Exit(thread, 10);
    }
  };
  call(3);
  profile_.Write(whole_);
  Snapshot();
  {
    const FileSizeLimit full(32);
    const auto written =
        WritePiece({.profile = whole_, .directory = place_, .number = 1}, gains_.Take(kOneSecond));
    EXPECT_FALSE(written);
  }
  call(4);
  Piece();
  EXPECT_EQ(CallsOf(pieces_[0]), 7);
  EXPECT_EQ(Reader::Open(pieces_[0])->meta().piece.begin_s, 0);
}

TEST_F(PiecesTest, NamesOfPiecesSortAsTheirNumbers) {
  EXPECT_EQ(kPieceNames.Of(42), "000042.jprof");
  EXPECT_EQ(kPieceNames.NumberIn("000042.jprof"), 42u);
  EXPECT_EQ(kPieceNames.NumberIn("1234567.jprof"), 1234567u);
  for (const char* name : {"42.jprof", ".new", ".old", "000042", "000000.jprof", "x",
                           "-00042.jprof", "99999999999999999999999.jprof"})
    EXPECT_EQ(kPieceNames.NumberIn(name), 0u) << name;
  for (const char* name : {"1000000.jprof", "000002.jprof", "000010.jprof", "app-7", ".new"})
    fs::create_directories(whole_ / kPiecesFolder / name);
  std::vector<std::string> names;
  for (const fs::path& piece : PiecesOf(whole_)) names.push_back(piece.filename());
  EXPECT_EQ(names, (std::vector<std::string>{"000002.jprof", "000010.jprof", "1000000.jprof"}));
}

}  // namespace
}  // namespace jprof::profile
