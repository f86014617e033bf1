// The engine without a JVM: events come from the test, names from a fake, and the content of the
// mapped files is compared with the list-based oracle.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "jprof/engine/events.h"
#include "jprof/engine/session.h"
#include "jprof/engine/sparse/intervals.h"
#include "profile/read/reader_trace.h"
#include "tests/oracle/list_tree.h"

namespace jprof::engine {
namespace {

using oracle::ListTree;
using profile::Node;

constexpr uint64_t kHandleStep = 0x60;  // VM methods are close together, as in the metaspace
constexpr uint64_t kFirstHandle = 0x7f0000001000;
uint64_t Handle(uint32_t method) { return kFirstHandle + method * kHandleStep; }

class FakeVm : public MethodSource {
 public:
  bool Describe(uint64_t method, MethodText* text) override {
    thread_local std::string name;
    name = "m" + std::to_string((method - kFirstHandle) / kHandleStep);
    *text = {"pkg/Class", name, "()V", false, false};
    ++described;
    return true;
  }
  FrameKind Classify(uint64_t return_address) override {
    return static_cast<FrameKind>(return_address & 3);  // 1 interpreted, 2 C1, 3 C2
  }
  uint64_t VirtualThreadId(uint64_t) override { return virtual_thread; }

  uint64_t virtual_thread = 0;
  std::atomic<int> described = 0;
};

class EngineTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-engine-XXXXXX";
    directory_ = mkdtemp(name);
  }
  void TearDown() override {
    if (session_ != nullptr) ThreadRegistry::Detach();
    session_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Start(SessionOptions options) {
    options.files.directory = directory_ + "/p";
    session_ = std::make_unique<Session>();
    const auto started = session_->Start(std::move(options), &vm_);
    ASSERT_TRUE(started) << started.error().message;
  }

  // Stack pointers fall as the stack grows.
  template <class R>
  void Enter(uint32_t method, uint64_t return_address = 1) {
    engine::Enter<R>(
        {Handle(method), 1'000'000 - 100 * ++depth_, return_address, continuation_, 0});
  }
  template <class R>
  void Leave(uint32_t method) {
    engine::Leave<R>({Handle(method), 1'000'000 - 100 * depth_--, 1, continuation_, 0});
  }

  std::string NameOf(uint32_t id) const {
    const char* at = session_->writer().methods();
    for (;;) {
      const auto* record = reinterpret_cast<const profile::MethodRecord*>(at);
      if (record->id == id) {
        return std::string(at + sizeof *record + record->class_length, record->name_length);
      }
      at += record->bytes;
    }
  }
  uint32_t NumberOf(profile::MethodId id) const {
    return static_cast<uint32_t>(std::stoul(NameOf(IndexOf(id)).substr(1)));
  }

  // The content of the files, in the oracle's terms. Superseded records count for their node.
  std::map<ListTree::Path, ListTree::Counts> Contexts() const {
    std::map<ListTree::Path, ListTree::Counts> contexts;
    const Node* nodes = session_->writer().nodes();
    const uint64_t count = session_->writer().header()->node_count;
    for (uint64_t i = 1; i < count; ++i) {
      const Node& node = nodes[i];
      const auto type = profile::TypeOf(node.ref);
      if (node.ref == profile::kNoMethodRef || type == FrameKind::kBlock ||
          type == FrameKind::kThread)
        continue;
      EXPECT_LT(node.parent, i);
      ListTree::Path path;
      uint64_t at = node.more == profile::kSuperseded ? node.parent : i;
      for (; nodes[at].parent != 0; at = nodes[at].parent) {
        path.insert(path.begin(), NumberOf(profile::MethodOf(nodes[at].ref)));
      }
      ListTree::Counts& counts = contexts[path];
      for (int k : {0, 1}) {
        counts.entries[k] += node.entries[k];
        counts.exits[k] += node.exits[k];
      }
    }
    return contexts;
  }

  // Entries and exits of each method.
  using MethodCounts = std::map<uint32_t, std::pair<uint64_t, uint64_t>>;
  static MethodCounts ByMethod(const ListTree& oracle) {
    MethodCounts counts;
    for (const auto& [path, of] : oracle.contexts()) {
      counts[path.back()].first += of.entries[0] + of.entries[1];
      counts[path.back()].second += of.exits[0] + of.exits[1];
    }
    return counts;
  }
  MethodCounts ByMethod() const {
    MethodCounts counts;
    ForEachNode([&](const Node& node) {
      auto& [entries, exits] = counts[NumberOf(profile::MethodOf(node.ref))];
      entries += uint64_t{node.entries[0]} + node.entries[1];
      exits += uint64_t{node.exits[0]} + node.exits[1];
    });
    return counts;
  }
  uint64_t NodesInsideThemselves() const {
    uint64_t inside = 0;
    const Node* nodes = session_->writer().nodes();
    ForEachNode([&](const Node& node) {
      uint32_t at = node.parent;
      while (at != 0 && profile::MethodOf(nodes[at].ref) != profile::MethodOf(node.ref)) {
        at = nodes[at].parent;
      }
      inside += at != 0 && node.more != profile::kSuperseded;
    });
    return inside;
  }
  template <typename F>  // f(node): of methods
  void ForEachNode(F f) const {
    const Node* nodes = session_->writer().nodes();
    for (uint64_t i = 1; i < session_->writer().header()->node_count; ++i) {
      const auto type = profile::TypeOf(nodes[i].ref);
      if (nodes[i].ref == profile::kNoMethodRef || type == FrameKind::kBlock ||
          type == FrameKind::kThread)
        continue;
      f(nodes[i]);
    }
  }

  struct Totals {
    uint64_t entries = 0, exits = 0, nodes = 0, overflow_entries = 0;
    int64_t self = 0;
  };
  Totals Sum() const {
    Totals totals;
    const Node* nodes = session_->writer().nodes();
    for (uint64_t i = 1; i < session_->writer().header()->node_count; ++i) {
      const auto type = profile::TypeOf(nodes[i].ref);
      if (nodes[i].ref == profile::kNoMethodRef || type == FrameKind::kBlock) continue;
      const uint64_t entries = uint64_t{nodes[i].entries[0]} + nodes[i].entries[1];
      totals.entries += entries;
      totals.exits += uint64_t{nodes[i].exits[0]} + nodes[i].exits[1];
      totals.self += nodes[i].self;
      totals.nodes += type != FrameKind::kThread;
      if (profile::MethodOf(nodes[i].ref) == profile::kOverflowMethod) {
        totals.overflow_entries += entries;
      }
    }
    return totals;
  }

  // A random program of `methods` methods, with calls and returns up to `depth`, applied to the
  // engine and the oracle.
  template <class R>
  void RunRandom(ListTree& oracle, uint32_t methods, size_t depth, int events, bool retype) {
    std::mt19937 random(12345);
    while (events-- > 0) {
      const bool call = oracle.depth() == 0 || (oracle.depth() < depth && random() % 2 == 0);
      if (call) {
        const auto method = static_cast<uint32_t>(random() % methods);
        oracle.Enter(method);
        Enter<R>(method, retype && random() % 50 == 0 ? 1 + random() % 3 : 1 + method % 3);
      } else {
        const uint32_t method = oracle.top();
        oracle.Leave();
        Leave<R>(method);
      }
    }
    while (oracle.depth() > 0) {
      const uint32_t method = oracle.top();
      oracle.Leave();
      Leave<R>(method);
    }
  }

  std::string directory_;
  FakeVm vm_;
  std::unique_ptr<Session> session_;
  uint64_t depth_ = 0;
  uint64_t continuation_ = 0;
};

SessionOptions Counting() {
  SessionOptions options;
  options.clock = false;
  return options;
}

TEST_F(EngineTest, CountsEveryContextLikeTheOracle) {
  Start(Counting());
  ListTree oracle;
  RunRandom<CountTree>(oracle, 5, 9, 200'000, false);
  EXPECT_EQ(Contexts(), oracle.contexts());
}

TEST_F(EngineTest, CountsEveryContextWhileMethodsAreCompiledAnew) {
  Start(Counting());
  ListTree oracle;
  RunRandom<CountTree>(oracle, 5, 6, 200'000, true);
  EXPECT_EQ(Contexts(), oracle.contexts());
}

TEST_F(EngineTest, FindsChildrenBeyondTheSlotsOfANode) {
  Start(Counting());
  ListTree oracle;
  RunRandom<CountTree>(oracle, 100, 3, 200'000, false);
  EXPECT_EQ(Contexts(), oracle.contexts());
}

TEST_F(EngineTest, ManyMethodsOutgrowTheMethodCache) {
#ifdef JPROF_SANITIZED_THREADS
  GTEST_SKIP() << "one thread only, and half a minute with the thread sanitizer";
#endif
  Start(Counting());
  ListTree oracle;
#ifdef JPROF_SANITIZED
  constexpr int kEvents = 60'000;  // the oracle's lists are slow
#else
  constexpr int kEvents = 200'000;
#endif
  RunRandom<CountTree>(oracle, 20'000, 2, kEvents, false);
  EXPECT_EQ(Contexts(), oracle.contexts());
  // Each method is described at its first event, and again only after the cache evicted it.
  EXPECT_LT(vm_.described, 40'000);
}

TEST_F(EngineTest, TimeCountsTheSameAndAddsUpToTheThreadsOwnTime) {
  Start({});
  ListTree oracle;
  const int64_t cpu_before = ptm::VirtualClock::CpuNanos();
  RunRandom<TimeTree>(oracle, 5, 9, 300'000, true);
  const int64_t cpu = ptm::VirtualClock::CpuNanos() - cpu_before;
  EXPECT_EQ(Contexts(), oracle.contexts());
  if (current_thread->record->flags & profile::kThreadNoClock)
    GTEST_SKIP() << "no perf events here";
  const double taken = static_cast<double>(Sum().self + current_thread->record->own_ticks) /
                       session_->clock().ticks_per_second * 1e9;
  EXPECT_NEAR(taken / static_cast<double>(cpu), 1.0, 0.1);
}

// One interval in 16, or in `every`, of frequent contexts is timed.
SessionOptions Sparse(uint32_t every = 16) {
  SessionOptions options;
  options.time_every = every;
  return options;
}

TEST_F(EngineTest, TimingSomeIntervalsCountsEveryContextLikeTheOracle) {
  Start(Sparse());
  ListTree oracle;
  RunRandom<SparseTimeTree>(oracle, 5, 6, 300'000, true);
  EXPECT_EQ(Contexts(), oracle.contexts());
  ThreadRegistry::Detach();
  const profile::ControlHeader& header = *session_->writer().header();
  EXPECT_GT(header.timed_intervals, 300'000u / 16);
  EXPECT_GT(header.sampled_intervals, 0u);
  EXPECT_GE(header.timed_intervals, header.sampled_intervals);
}

// Takes about 4 ns for each step, and nothing but time.
void Work(int steps) {
  for (uint64_t x = 1; steps > 0; --steps) {
    x = x * 0x9e3779b97f4a7c15u;
    asm volatile("" : "+r"(x));
  }
}
int64_t SpinFor(int64_t nanos) {
  const int64_t begin = ptm::VirtualClock::CpuNanos();
  int64_t now = begin;
  while (now < begin + nanos) now = ptm::VirtualClock::CpuNanos();
  return now - begin;
}

// The second method takes five times as long as the first at each 16th call. A fixed step of 16
// calls would find all of these calls or none. What every interval comes to is the oracle. On a
// virtual machine that is stopped now and then the two differ by 15 % and more: that the estimate
// is right on average is tested below.
TEST_F(EngineTest, TimesOfSomeIntervalsEstimateThoseOfAll) {
  const auto self_of = [this]<class R>(SessionOptions options) {
    Start(std::move(options));
    for (int i = 0; i < 100'000; ++i) {
      Enter<R>(1);
      Work(10);
      Leave<R>(1);
      Enter<R>(2);
      Work(i % 16 == 3 ? 50 : 10);
      Leave<R>(2);
    }
    std::map<uint32_t, double> self;
    ForEachNode([&](const Node& node) {
      self[NumberOf(profile::MethodOf(node.ref))] += static_cast<double>(node.self);
    });
    ThreadRegistry::Detach();
    session_.reset();
    std::filesystem::remove_all(directory_ + "/p");
    return self;
  };
  std::vector<double> ratios;
  for (int i = 0; i < 9; ++i) {
    const auto all = self_of.operator()<TimeTree>({});
    const auto some = self_of.operator()<SparseTimeTree>(Sparse());
    ratios.push_back((some.at(2) / some.at(1)) / (all.at(2) / all.at(1)));
  }
  std::ranges::sort(ratios);
  EXPECT_NEAR(ratios[4], 1.0, 0.35);
}

// One call in 1,000 of a frequent context takes 2 ms. Whether it is timed or not, its time is in
// the tree once, and not as often as the intervals for which a timed one stands.
TEST_F(EngineTest, ALongIntervalThatIsNotTimedIsNotMissed) {
  Start(Sparse(64));
  int64_t spun = 0;
  for (int i = 0; i < 50'000; ++i) {
    Enter<SparseTimeTree>(1);
    if (i % 1000 == 777) spun += SpinFor(2'000'000);
    Leave<SparseTimeTree>(1);
  }
  if (current_thread->record->flags & profile::kThreadNoClock)
    GTEST_SKIP() << "no perf events here";
  const double self = static_cast<double>(Sum().self) / session_->clock().ticks_per_second * 1e9;
  EXPECT_NEAR(self / static_cast<double>(spun), 1.0, 0.3);
#ifndef JPROF_SANITIZED  // which makes all intervals so long that they are timed
  ThreadRegistry::Detach();
  EXPECT_GT(session_->writer().header()->untimed_ticks, 0u);
#endif
}

// The intervals of a context are all timed if they are long compared with a reading of the clock,
// but for those after a measured event, which is subtracted 32 times and makes one look short.
TEST_F(EngineTest, LongIntervalsAreAllTimed) {
  Start(Sparse(64));
  for (int i = 0; i < 20'000; ++i) {
    Enter<SparseTimeTree>(1);
    Work(1000);
    Leave<SparseTimeTree>(1);
  }
  ThreadRegistry::Detach();
  EXPECT_GT(session_->writer().header()->timed_intervals, 20'000u * 9 / 10);
}

// The estimate is the sum of all intervals, however the length of one depends on chance: also where
// some of a window are long, and where all together last as long as one that is
// missed. The intervals are made up, so their sum is known.
TEST_F(EngineTest, EstimatesAreRightOnAverage) {
  struct Lengths {
    double nanos, deviation;  // the deviation is that of the logarithm
  };
  for (const Lengths lengths : {Lengths{20, 0.1}, {180, 0.3}, {120, 0.4}, {240, 0.001}}) {
    Start(Sparse());
    Enter<SparseTimeTree>(1);
    Thread& thread = *current_thread;
    Node* const node = thread.cursor.top[-1].node;
    const double per_ns = session_->clock().ticks_per_second / 1e9;
    std::mt19937 random(1);
    std::lognormal_distribution<double> length(std::log(lengths.nanos * per_ns), lengths.deviation);
    std::array<uint32_t, 4> counts;
    counts.fill(profile::kFirstTimedIntervals + 1);
    const int64_t before = node->self;
    double sum = 0;
    int64_t since = 0;
    thread.interval = Interval::kUntimed;
    for (int i = 0; i < 4'000'000; ++i) {
      const auto ticks = static_cast<int64_t>(length(random));
      sum += static_cast<double>(ticks);
      since += ticks;
      uint32_t* const count = &counts[random() % counts.size()];
      ++*count;
      if (thread.interval == Interval::kUntimed) {
        if (IsTimed(thread, count)) BeginTiming(thread, count);
        continue;
      }
      EndAnyInterval(thread, node, std::exchange(since, 0));
      ContinueTiming(thread, count);
    }
    EXPECT_NEAR(static_cast<double>(node->self - before) / sum, 1.0, 0.015) << lengths.nanos;
    ThreadRegistry::Detach();
    session_.reset();
    std::filesystem::remove_all(directory_ + "/p");
  }
}

// A program has tiny and long intervals: long ones in phases of a context of its own, whether or
// not the two contexts have the same place, or each tenth one of a context on average. Each long
// one is in the tree once: neither twice, as estimated by windows and as missed, nor not at all.
// The intervals are made up.
TEST_F(EngineTest, LongIntervalsAreInTheTreeOnce) {
#ifdef JPROF_SANITIZED_THREADS
  GTEST_SKIP() << "one thread only, and half a minute with the thread sanitizer";
#endif
  struct Case {
    const char* name;
    ptrdiff_t distance;  // of the nodes
    bool by_chance;
  };
  for (const Case& one : {Case{"phases", 1, false}, Case{"the same place", 256, false},
                          Case{"one in ten", 0, true}}) {
    for (const uint32_t every : {2u, 16u, 100u}) {
      for (const int64_t nanos : {400, 6'000, 83'000}) {
        Start(Sparse(every));
        Enter<SparseTimeTree>(1);
        Thread& thread = *current_thread;
        Node* const first = thread.cursor.top[-1].node;
        Node* const nodes[] = {first, first + one.distance};
        const double per_ns = session_->clock().ticks_per_second / 1e9;
        std::mt19937 random(1);
        const auto is_long = [&](int i) {
          return one.by_chance ? random() % 10 == 0 : i % 2010 >= 2000;
        };
        std::array<std::array<uint32_t, 2>, 2> counts = {};
        const auto all = [&] {
          return static_cast<double>(nodes[0]->self + (one.distance == 0 ? 0 : nodes[1]->self));
        };
        const double before = all();
        double sum = 0;
        int64_t since = 0;
        thread.interval = Interval::kUntimed;
        bool next = is_long(0);
        for (int i = 0; i < 2'000'000; ++i) {
          const bool now = std::exchange(next, is_long(i + 1));
          const auto ticks = static_cast<int64_t>(static_cast<double>(now ? nanos : 20) * per_ns);
          sum += static_cast<double>(ticks);
          since += ticks;
          const bool timed = thread.interval != Interval::kUntimed;
          if (timed) EndAnyInterval(thread, nodes[now], std::exchange(since, 0));
          uint32_t* const count = &counts[next][static_cast<size_t>(i % 2)];
          ++*count;
          thread.cursor.top[-1].node = nodes[next];
          if (timed) {
            ContinueTiming(thread, count);
          } else if (IsTimed(thread, count)) {
            thread.interval = Interval::kOpensWindow;
            if (StandsForItself(thread, count)) {
              thread.interval = Interval::kTimedForItself;
              // BeginTiming() adds what was before to the tree, if it is so long.
              const int64_t gap = std::exchange(since, 0);
              if (gap > thread.intervals.longest) nodes[0]->self += gap;
            }
            if (OpensWindow(count, thread.intervals.threshold)) thread.intervals.window = kWindow;
          }
        }
        // One in 100 of 400 ns: four to six standard deviations.
        const double tolerance = every == 100 && nanos == 400 ? 0.12 : 0.05;
        EXPECT_NEAR((all() - before) / sum, 1.0, tolerance)
            << one.name << ", " << nanos << " ns, one in " << every;
        thread.cursor.top[-1].node = first;
        ThreadRegistry::Detach();
        session_.reset();
        std::filesystem::remove_all(directory_ + "/p");
      }
    }
  }
}

// Several intervals may end before the next event, as where virtual threads change: what was found
// before is forgotten, and nothing is written elsewhere.
TEST_F(EngineTest, LongIntervalsWithoutAnEventBetweenThem) {
  Start(Sparse());
  Enter<SparseTimeTree>(1);
  Thread& thread = *current_thread;
  Node* const first = thread.cursor.top[-1].node;
  thread.interval = Interval::kTimedForMany;
  const int64_t ticks = thread.intervals.long_ticks + 1;
  for (ptrdiff_t i = 0; i < 256; ++i) EndAnyInterval(thread, first + i, ticks);
  EXPECT_EQ(thread.intervals.found_long[0], ContextTag(first + 255));
  uint32_t count = profile::kFirstTimedIntervals + 1;
  for (uint32_t i = 0; i < kWindow; ++i) ContinueTiming(thread, &count);
  EXPECT_TRUE(IsLong(thread.intervals, ContextTag(first + 255)));
  EXPECT_FALSE(IsLong(thread.intervals, ContextTag(first + 254)));
}

// The share of events that open a window is the same for every period of the program, and for every
// call in it: within six standard deviations of what chance makes of it.
TEST(OpensWindow, SelectsEachCallOfAPeriodEquallyOften) {
  constexpr uint32_t kEvery = 64, kCalls = 1 << 18;
  constexpr auto kThreshold = static_cast<uint32_t>((uint64_t{1} << 32) / kEvery);
  std::array<uint32_t, 64> counts = {};
  for (uint32_t* count : {&counts[0], &counts[1], &counts[37]}) {
    for (const uint32_t period : {1u, 2u, 3u, 5u, 8u, 13u, 16u, 21u, 32u, 34u, 55u, 64u, 89u}) {
      std::vector<double> selected(period);
      *count = 0;
      while (*count < kCalls) {
        ++*count;
        selected[*count % period] += OpensWindow(count, kThreshold);
      }
      const double expected = double{kCalls} / kEvery / period;
      for (const double of_call : selected)
        EXPECT_NEAR(of_call, expected, 6 * std::sqrt(expected)) << "period " << period;
    }
  }
}

TEST_F(EngineTest, AThreadWithoutAReportedEndHasNoCpuTimeAfterItsStart) {
  Start(Counting());
  RunRandom<CountTree>(*std::make_unique<ListTree>(), 2, 2, 10, false);
  profile::ThreadRecord& record = *current_thread->record;
  pid_t gone = 0;
  std::thread([&] { gone = gettid(); }).join();
  for (int i = 0;
       i < 1000 && access(("/proc/self/task/" + std::to_string(gone)).c_str(), F_OK) == 0; ++i)
    usleep(1000);
  record.tid = static_cast<uint32_t>(gone);
  session_->Finish();
  EXPECT_EQ(record.cpu_ns_end, record.cpu_ns_start);
}

TEST_F(EngineTest, TrainWritesOneEquivalentRecordPerEvent) {
  SessionOptions options;
  options.files.train = true;
  Start(std::move(options));
  ListTree oracle;
  RunRandom<Training<TimeTree>>(oracle, 5, 9, 50'000, false);
  EXPECT_EQ(Contexts(), oracle.contexts());
  const auto* train = current_thread->training.end - (1 << 14);  // the run being written
  EXPECT_NE(train->from, profile::kNoMethodRef);
  EXPECT_EQ(session_->writer().header()->train_records,
            (Sum().entries + Sum().exits + (1 << 14) - 1) / (1 << 14) * (1 << 14));
}

TEST_F(EngineTest, FoldedRecursionKeepsEveryCountInFewNodes) {
  SessionOptions options = Counting();
  options.fold_recursion = true;
  Start(std::move(options));
  ListTree oracle;
  RunRandom<CountTree>(oracle, 4, 30, 200'000, false);
  uint64_t entries = 0;
  for (const auto& [path, counts] : oracle.contexts()) {
    entries += counts.entries[0] + counts.entries[1];
  }
  EXPECT_EQ(Sum().entries, entries);
  EXPECT_EQ(Sum().exits, entries);
  EXPECT_LE(Sum().nodes, 4 + 4 * 3 + 4 * 3 * 2 + 4 * 3 * 2);  // no method twice on a path
}

TEST_F(EngineTest, PastTheCapEveryCallIsStillCounted) {
  SessionOptions options = Counting();
  options.files.tree_memory = 64 << 10;
  Start(std::move(options));
  ListTree oracle;
  RunRandom<CountTree>(oracle, 6, 12, 200'000, false);
  uint64_t entries = 0;
  for (const auto& [path, counts] : oracle.contexts()) {
    entries += counts.entries[0] + counts.entries[1];
  }
  EXPECT_EQ(Sum().entries, entries);
  EXPECT_EQ(Sum().exits, entries);
  EXPECT_GT(Sum().overflow_entries, 0u);
  EXPECT_EQ(current_thread->record->overflow, Sum().overflow_entries);
  EXPECT_EQ(session_->writer().header()->tree_full, 1u);
}

TEST_F(EngineTest, ACountThatCannotGrowIsALoss) {
  Start(Counting());
  for (int i = 0; i < 2; ++i) {
    Enter<CountTree>(1);
    Leave<CountTree>(1);
  }
  Enter<CountTree>(1);
  Enter<CountTree>(2);
  Leave<CountTree>(2);
  Leave<CountTree>(1);
  Node* const nodes = session_->writer().nodes();
  Node* const outer = nodes + nodes[current_thread->timeline.record->root].child[0].node;
  Node* const inner = nodes + outer->child[0].node;
  constexpr uint32_t kLargest = std::numeric_limits<uint32_t>::max();
  for (uint32_t* counts : {outer->entries, outer->exits}) counts[0] = counts[1] = kLargest - 1;
  inner->exits[0] = kLargest;
  current_thread->timeline.chunk_end = current_thread->timeline.chunk_next;
  session_->writer().header()->disk_full = 1;
  for (int i = 0; i < 3; ++i) {  // an exit is before the entry, and an entry before the exit
    Enter<CountTree>(1);
    Leave<CountTree>(1);
  }
  EXPECT_EQ(outer->entries[1], kLargest);
  EXPECT_EQ(outer->exits[0], kLargest);
  EXPECT_EQ(current_thread->record->dropped, 4u);
  Enter<CountTree>(1);
  Enter<CountTree>(2);
  depth_ = 1;
  Leave<CountTree>(1);  // the inner call has ended without an exit
  EXPECT_EQ(inner->exits[0], kLargest);
  EXPECT_EQ(current_thread->record->dropped, 6u);
}

// 2 million contexts' worth of recursion in a cap of 16,384 nodes.
TEST_F(EngineTest, HalfFullRecursionIsFoldedAndNothingOverflows) {
  SessionOptions options = Counting();
  options.files.tree_memory = 1 << 20;
  Start(std::move(options));
  ListTree oracle;
  RunRandom<CountTree>(oracle, 6, 12, 200'000, true);
  const profile::ControlHeader& header = *session_->writer().header();
  EXPECT_GT(oracle.contexts().size(), header.node_limit);  // otherwise folding is not required
  EXPECT_EQ(ByMethod(), ByMethod(oracle));
  EXPECT_EQ(header.tree_full, 0u);
  EXPECT_EQ(current_thread->record->overflow, 0u);
  EXPECT_GT(header.folded_ticks, header.start_ticks);
  EXPECT_LT(header.folded_ticks, static_cast<uint64_t>(ptm::ReadTsc()));
  EXPECT_GT(NodesInsideThemselves(), header.node_limit / 8);  // from before the folding
}

TEST_F(EngineTest, ASmallTreeIsNotFolded) {
  Start(Counting());
  ListTree oracle;
  RunRandom<CountTree>(oracle, 6, 12, 10'000, false);
  EXPECT_EQ(Contexts(), oracle.contexts());
  EXPECT_EQ(session_->writer().header()->folded_ticks, 0u);
}

TEST_F(EngineTest, TheStackMovesToTheFoldedTree) {
  SessionOptions options;
  options.files.tree_memory = 256 << 10;
  Start(std::move(options));
  constexpr uint32_t kDepth = 9'000;
  for (uint32_t i = 0; i < kDepth; ++i) Enter<TimeTree>(i % 3);
  const uint64_t used = session_->writer().header()->node_count;
  for (uint32_t i = kDepth; i-- > 0;) Leave<TimeTree>(i % 3);
  for (int i = 0; i < 10; ++i) Enter<TimeTree>(i % 3);
  for (int i = 10; i-- > 0;) Leave<TimeTree>(i % 3);
  EXPECT_NE(session_->writer().header()->folded_ticks, 0u);
  EXPECT_EQ(session_->writer().header()->node_count, used);  // the old tree is not used again
  EXPECT_EQ(Sum().entries, kDepth + 10u);
  EXPECT_EQ(Sum().exits, kDepth + 10u);
  EXPECT_EQ(Sum().overflow_entries, 0u);
  EXPECT_EQ(current_thread->record->healed + current_thread->record->unmatched, 0u);
}

TEST_F(EngineTest, OnlyAFoldedTreeThatIsTooLargeOverflows) {
  SessionOptions options = Counting();
  options.files.tree_memory = 1 << 20;
  Start(std::move(options));
  ListTree oracle;
  RunRandom<CountTree>(oracle, 60, 8, 200'000, false);
  const profile::ControlHeader& header = *session_->writer().header();
  EXPECT_NE(header.folded_ticks, 0u);
  EXPECT_EQ(header.tree_full, 1u);
  const uint64_t used = header.node_count;  // superseded and overflow records may exceed the cap
  EXPECT_GE(used, header.node_limit);
  EXPECT_GT(Sum().overflow_entries, 0u);
  EXPECT_EQ(current_thread->record->overflow, Sum().overflow_entries);
  uint64_t entries = 0;
  for (const auto& [path, counts] : oracle.contexts()) {
    entries += counts.entries[0] + counts.entries[1];
  }
  EXPECT_EQ(Sum().entries, entries);
  EXPECT_EQ(Sum().exits, entries);
}

TEST_F(EngineTest, VirtualThreadsThatWereParkedMeanwhileFoldWhenTheyGoOn) {
  SessionOptions options = Counting();
  options.files.tree_memory = 1 << 20;
  Start(std::move(options));
  const auto on_virtual_thread = [&](auto events) {
    continuation_ = 0xc0;
    vm_.virtual_thread = 100;
    events();
    continuation_ = 0;
  };
  on_virtual_thread([&] {
    for (int i = 0; i < 20; ++i) Enter<CountTree>(i % 2);
  });
  const uint64_t depth = std::exchange(depth_, 0);
  ListTree oracle;
  RunRandom<CountTree>(oracle, 6, 12, 100'000, false);
  ASSERT_NE(session_->writer().header()->folded_ticks, 0u);
  depth_ = depth;
  on_virtual_thread([&] {
    for (int i = 20; i < 1000; ++i) Enter<CountTree>(i % 4);
    for (int i = 1000; i-- > 20;) Leave<CountTree>(i % 4);
    for (int i = 20; i-- > 0;) Leave<CountTree>(i % 2);
  });
  EXPECT_EQ(Sum().entries, Sum().exits);
  EXPECT_EQ(Sum().overflow_entries, 0u);
  auto expected = ByMethod(oracle);
  for (uint32_t i = 0; i < 1000; ++i) {
    for (auto* side :
         {&expected[i < 20 ? i % 2 : i % 4].first, &expected[i < 20 ? i % 2 : i % 4].second})
      ++*side;
  }
  EXPECT_EQ(ByMethod(), expected);
}

TEST_F(EngineTest, DeepStacksGrow) {
  Start(Counting());
  constexpr int kDepth = 9'000;
  for (int i = 0; i < kDepth; ++i) Enter<CountTree>(1);
  for (int i = 0; i < kDepth; ++i) Leave<CountTree>(1);
  EXPECT_EQ(Sum().entries, kDepth);
  EXPECT_EQ(Sum().exits, kDepth);
  EXPECT_EQ(current_thread->record->healed, 0u);
}

TEST_F(EngineTest, AnExitWithoutAnEntryIsIgnoredAndCounted) {
  Start(Counting());
  Enter<CountTree>(1);
  engine::Leave<CountTree>({Handle(2), 1, 1, 0, 0});
  Leave<CountTree>(1);
  EXPECT_EQ(current_thread->record->unmatched, 1u);
  EXPECT_EQ(Sum().exits, 1u);
}

// The session began while methods were running: 1 and 2 exit without an entry.
TEST_F(EngineTest, MethodsThatRanBeforeTheSessionExitWithoutALoss) {
  SessionOptions options = Counting();
  options.joins_late = true;
  options.name_of = [](uint32_t) { return std::string_view("early"); };
  Start(std::move(options));
  Enter<CountTree>(3);
  engine::Leave<CountTree>({Handle(4), 1, 1, 0, 0});  // a loss, as always
  Leave<CountTree>(3);
  engine::Leave<CountTree>({Handle(2), 1, 1, 0, 0});
  Enter<CountTree>(3);
  Leave<CountTree>(3);
  engine::Leave<CountTree>({Handle(1), 1, 1, 0, 0});
  EXPECT_EQ(current_thread->record->unmatched, 1u);
  session_->ExpectProbesToEnd(true);
  Enter<CountTree>(3);
  engine::Leave<CountTree>({Handle(4), 1, 1, 0, 0});
  Leave<CountTree>(3);
  EXPECT_EQ(current_thread->record->unmatched, 1u);
  EXPECT_EQ(current_thread->record->healed, 0u);
  EXPECT_STREQ(current_thread->record->name, "early");
  EXPECT_EQ(Sum().entries, 3u);
  EXPECT_EQ(Sum().exits, 3u);
}

TEST_F(EngineTest, FramesThatLostTheirExitsAreHealedByTheNextExitBelow) {
  Start(Counting());
  Enter<CountTree>(1);
  Enter<CountTree>(2);
  Enter<CountTree>(3);
  depth_ = 1;
  Leave<CountTree>(1);
  EXPECT_EQ(current_thread->record->healed, 2u);
  EXPECT_EQ(Sum().entries, 3u);
  EXPECT_EQ(Sum().exits, 3u);
}

TEST_F(EngineTest, FramesFarBelowTheStackPointerAreHealedOnEntry) {
  Start(Counting());
  engine::Enter<CountTree>({Handle(1), 1'000'000, 1, 0, 0});
  engine::Enter<CountTree>({Handle(2), 900'000, 1, 0, 0});
  engine::Enter<CountTree>({Handle(3), 800'000, 1, 0, 0});
  engine::Enter<CountTree>({Handle(4), 950'000, 1, 0, 0});  // 2 and 3 are gone
  EXPECT_EQ(current_thread->record->healed, 2u);
  const auto contexts = Contexts();
  EXPECT_TRUE(contexts.contains({1, 4}));
}

TEST_F(EngineTest, ASmallerFrameInPlaceOfALargerOneIsNoLoss) {
  Start(Counting());
  engine::Enter<CountTree>({Handle(1), 1'000'000, 1, 0, 0});
  for (int i = 0; i < 3; ++i) {  // 1 was replaced on the stack: its callees are above its probe
    engine::Enter<CountTree>({Handle(2), 1'000'200, 1, 0, 0});
    engine::Leave<CountTree>({Handle(2), 1'000'200, 1, 0, 0});
  }
  EXPECT_EQ(current_thread->record->healed, 0u);
  EXPECT_EQ(Contexts().at({1, 2}).entries[0] + Contexts().at({1, 2}).entries[1], 3u);
}

TEST_F(EngineTest, FilteredMethodsLeaveNoTrace) {
  SessionOptions options = Counting();
  options.method_filter = [](std::string_view, std::string_view name) { return name != "m2"; };
  Start(std::move(options));
  for (uint32_t method : {1, 2, 3}) Enter<CountTree>(method);
  for (uint32_t method : {3, 2, 1}) Leave<CountTree>(method);
  const auto contexts = Contexts();
  EXPECT_EQ(contexts.size(), 2u);
  EXPECT_TRUE(contexts.contains({1, 3}));
  EXPECT_EQ(current_thread->record->unmatched, 0u);
}

TEST_F(EngineTest, ForgottenMethodsAreDescribedAgain) {
  Start(Counting());
  Enter<CountTree>(1);
  Leave<CountTree>(1);
  EXPECT_EQ(vm_.described, 1);
  session_->threads().ForgetMethods();
  Enter<CountTree>(1);
  Leave<CountTree>(1);
  EXPECT_EQ(vm_.described, 2);
  EXPECT_EQ(Sum().nodes, 1u);  // and keep their id
}

TEST_F(EngineTest, FilteredThreadsAreCountedNotRecorded) {
  SessionOptions options = Counting();
  options.thread_filter = [](std::string_view name) { return name == "wanted"; };
  Start(std::move(options));  // the first thread is called main
  Enter<CountTree>(1);
  Leave<CountTree>(1);
  EXPECT_EQ(Sum().nodes, 0u);
  EXPECT_TRUE(current_thread->record->flags & profile::kThreadFiltered);
}

TEST_F(EngineTest, VirtualThreadsKeepTheirStacksAcrossCarriers) {
  Start(Counting());
  constexpr int kThreads = 20;
  Enter<CountTree>(0);  // the carrier
  const uint64_t carrier_depth = depth_;
  for (int step = 0; step < 30; ++step) {
    for (int v = 0; v < kThreads; ++v) {
      vm_.virtual_thread = 100 + v;
      continuation_ = 0xc0;
      depth_ = carrier_depth + (step * 7 + v) % 5;  // mounted at another depth each time
      if (step < 15) Enter<CountTree>(1 + step);
      if (step >= 15) Leave<CountTree>(1 + 29 - step);
      continuation_ = 0;
      depth_ = carrier_depth;
      Enter<CountTree>(99);  // a method of the carrier in between
      Leave<CountTree>(99);
    }
  }
  Leave<CountTree>(0);
  EXPECT_EQ(Sum().entries, Sum().exits);
  EXPECT_EQ(Sum().entries, 1u + 30u * kThreads + 15u * kThreads);
  const auto contexts = Contexts();
  ListTree::Path path;
  for (uint32_t method = 1; method <= 15; ++method) path.push_back(method);
  EXPECT_EQ(contexts.at(path).entries[0], uint64_t{kThreads});
  EXPECT_EQ(current_thread->record->healed, 0u);
  // All have ended: the next one reuses an existing tree.
  const uint32_t threads = session_->writer().header()->thread_count;
  EXPECT_EQ(threads, 1u + kThreads);
  vm_.virtual_thread = 1000;
  continuation_ = 0xc0;
  Enter<CountTree>(1);
  Leave<CountTree>(1);
  EXPECT_EQ(session_->writer().header()->thread_count, threads);
}

struct Decoded {
  uint64_t entries = 0, exits = 0;
};
Decoded Decode(const profile::TraceBlock& block) {
  Decoded decoded;
  const auto* at = reinterpret_cast<const uint8_t*>(&block + 1);
  const auto* end = at + block.bytes;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      value |= uint64_t{*at & 0x7fu} << shift;
      if ((*at++ & 0x80) == 0) return value;
    }
  };
  while (at < end) {
    const uint64_t head = varint();
    varint();
    ++(head & 1 ? decoded.exits : decoded.entries);
  }
  return decoded;
}

SessionOptions Tracing(TraceKeep keep, uint64_t memory) {
  SessionOptions options;
  options.files.trace = true;
  options.trace_keep = keep;
  options.trace_memory = memory;
  return options;
}

TEST_F(EngineTest, TraceHoldsEveryEvent) {
  Start(Tracing(TraceKeep::kNormal, 64 << 20));
  ListTree oracle;
  RunRandom<TimeTrace>(oracle, 300, 9, 100'000, false);
  Decoded all;
  uint64_t events = 0;
  const auto* header = session_->writer().header();
  for (uint64_t i = 0; i < header->trace_blocks; ++i) {
    const auto* block = reinterpret_cast<const profile::TraceBlock*>(session_->writer().trace() +
                                                                     i * profile::kTraceBlockBytes);
    const Decoded one = Decode(*block);
    EXPECT_EQ(block->first_event, events);
    EXPECT_EQ(one.entries + one.exits, block->events);
    events += block->events;
    all.entries += one.entries;
    all.exits += one.exits;
  }
  EXPECT_EQ(all.entries, all.exits);
  EXPECT_EQ(all.entries + all.exits, current_thread->record->trace_events);
  EXPECT_GE(events, 100'000u);
}

TEST_F(EngineTest, AFullTraceStopsAndCountsWhatItDropped) {
  Start(Tracing(TraceKeep::kNormal, 2 * profile::kTraceBlockBytes));
  ListTree oracle;
  RunRandom<TimeTrace>(oracle, 300, 9, 100'000, false);
  const auto& record = *current_thread->record;
  EXPECT_EQ(session_->writer().header()->trace_blocks, 2u);
  EXPECT_GT(record.trace_dropped, 0u);
  EXPECT_GE(record.trace_events + record.trace_dropped, 100'000u);
}

TEST_F(EngineTest, AWrappingTraceKeepsTheLastEvents) {
  Start(Tracing(TraceKeep::kWrap, 3 * profile::kTraceBlockBytes));
  ListTree oracle;
  RunRandom<TimeTrace>(oracle, 300, 9, 100'000, false);
  const auto& record = *current_thread->record;
  uint64_t kept = 0, last = 0;
  for (uint64_t i = 0; i < session_->writer().header()->trace_blocks; ++i) {
    const auto* block = reinterpret_cast<const profile::TraceBlock*>(session_->writer().trace() +
                                                                     i * profile::kTraceBlockBytes);
    kept += block->events;
    last = std::max(last, block->first_event + block->events);
  }
  EXPECT_EQ(session_->writer().header()->trace_blocks, 3u);
  EXPECT_EQ(kept + record.trace_overwritten, record.trace_events);
  EXPECT_EQ(last, record.trace_events);
  EXPECT_EQ(record.trace_dropped, 0u);
}

TEST_F(EngineTest, AContinuousTraceLosesNothing) {
  Start(Tracing(TraceKeep::kContinuous, 4 * profile::kTraceBlockBytes));
  ListTree oracle;
  RunRandom<TimeTrace>(oracle, 300, 9, 400'000, false);
  const auto& record = *current_thread->record;
  const uint64_t events = record.trace_events;
  EXPECT_GE(events, 400'000u);
  EXPECT_EQ(record.trace_dropped, 0u);
  ThreadRegistry::Detach();
  session_->Finish();
  EXPECT_LE(session_->writer().header()->trace_blocks, 4u);
  EXPECT_GT(std::filesystem::file_size(directory_ + "/p/trace.zst"), 10'000u);
  for (uint64_t i = 0; i < session_->writer().header()->trace_blocks; ++i) {
    const auto* block = reinterpret_cast<const profile::TraceBlock*>(session_->writer().trace() +
                                                                     i * profile::kTraceBlockBytes);
    EXPECT_EQ(block->events, 0u);  // all in trace.zst
  }
}

// The names of the compressed files.
std::vector<std::string> TraceFilesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (const std::string name = entry.path().filename(); name.starts_with("trace-"))
      names.push_back(name);
  std::ranges::sort(names);
  return names;
}

TEST_F(EngineTest, AContinuousTraceKeepsItsLastFiles) {
  SessionOptions options = Tracing(TraceKeep::kContinuous, 4 * profile::kTraceBlockBytes);
  options.trace_rotate_ns = 2'000'000;
  options.trace_files = 3;
  Start(options);
  ListTree oracle;
  const auto files = [&] { return TraceFilesIn(directory_ + "/p"); };
  RunRandom<TimeTrace>(oracle, 300, 9, 400'000, false);
  for (int more = 0; more < 1000 && files().front() == "trace-000001.zst"; ++more)
    RunRandom<TimeTrace>(oracle, 300, 9, 50'000, false);
  const auto& record = *current_thread->record;
  const uint64_t events = record.trace_events;
  ThreadRegistry::Detach();
  session_->Finish();
  ASSERT_EQ(files().size(), 3u);
  EXPECT_GT(files().front(), "trace-000001.zst");
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/p/trace.zst"));
  std::ofstream(directory_ + "/p/meta.json") << R"({"format":1,"mode":"trace",
"metrics":[{"name":"time","unit":"ns","scale":1,"kind":"time"}]})";
  auto reader = profile::Reader::Open(directory_ + "/p");
  ASSERT_TRUE(reader) << reader.error().message;
  uint64_t read = 0, missing = 0;
  const auto done = profile::ReadTrace(*reader, [&](const profile::TraceEvent& event) {
    ++read;
    missing += event.missing;
    return true;
  });
  ASSERT_TRUE(done) << done.error().message;
  const uint64_t overwritten = reader->threads()[0].record.trace_overwritten;
  EXPECT_GT(overwritten, 0u);
  EXPECT_EQ(read + overwritten, events);
  EXPECT_EQ(missing, overwritten) << "what was removed is before the first event that is left";
  EXPECT_TRUE(reader->damages().empty()) << reader->damages().Lines().front();
}

// Limits the size of this process's files, which simulates a full disk: a write stores what fits.
void LimitFiles(rlim_t bytes) {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {bytes, RLIM_INFINITY};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// The number of events in the frames of trace.zst, which must contain nothing else.
uint64_t CompressedEvents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string file(std::istreambuf_iterator<char>(in), {});
  alignas(profile::TraceBlock) static char block[profile::kTraceBlockBytes];
  uint64_t events = 0;
  for (size_t at = 0; at < file.size();) {
    const size_t size = ZSTD_findFrameCompressedSize(file.data() + at, file.size() - at);
    EXPECT_FALSE(ZSTD_isError(size)) << ZSTD_getErrorName(size) << " at " << at;
    if (ZSTD_isError(size)) break;
    EXPECT_EQ(ZSTD_decompress(block, sizeof block, file.data() + at, size), sizeof block);
    const Decoded decoded = Decode(*reinterpret_cast<const profile::TraceBlock*>(block));
    events += decoded.entries + decoded.exits;
    at += size;
  }
  return events;
}

TEST_F(EngineTest, AContinuousTraceOutlivesADiskThatIsFullForAWhile) {
  Start(Tracing(TraceKeep::kContinuous, 4 * profile::kTraceBlockBytes));
  const std::string file = directory_ + "/p/trace.zst";
  const auto size = [&] { return std::filesystem::file_size(file); };
  ListTree oracle;
  RunRandom<TimeTrace>(oracle, 300, 9, 100'000, false);
  const auto& record = *current_thread->record;
  LimitFiles(size() + 1000);  // less than a frame
  for (uint64_t before = record.trace_dropped; record.trace_dropped < before + 1000;)
    RunRandom<TimeTrace>(oracle, 300, 9, 10'000, false);
  const uint64_t full = size();
  LimitFiles(RLIM_INFINITY);
  const uint64_t kept = record.trace_events;
  while (record.trace_events < kept + 200'000) RunRandom<TimeTrace>(oracle, 300, 9, 10'000, false);
  const uint64_t events = record.trace_events;
  ThreadRegistry::Detach();
  session_->Finish();
  EXPECT_GT(size(), full + 10'000);
  EXPECT_EQ(CompressedEvents(file), events);
  EXPECT_EQ(session_->writer().header()->disk_full, 1u);
}

TEST_F(EngineTest, WhatFindsNoRoomToTheEndStaysInTheTrace) {
  Start(Tracing(TraceKeep::kContinuous, 4 * profile::kTraceBlockBytes));
  const std::string file = directory_ + "/p/trace.zst";
  ListTree oracle;
  RunRandom<TimeTrace>(oracle, 300, 9, 100'000, false);
  const auto& record = *current_thread->record;
  LimitFiles(std::filesystem::file_size(file) + 1000);
  while (record.trace_dropped == 0) RunRandom<TimeTrace>(oracle, 300, 9, 10'000, false);
  const uint64_t events = record.trace_events;
  ThreadRegistry::Detach();
  session_->Finish();
  LimitFiles(RLIM_INFINITY);
  uint64_t left = 0;
  for (uint64_t i = 0; i < session_->writer().header()->trace_blocks; ++i) {
    left += reinterpret_cast<const profile::TraceBlock*>(session_->writer().trace() +
                                                         i * profile::kTraceBlockBytes)
                ->events;
  }
  EXPECT_GT(left, 0u);
  EXPECT_EQ(CompressedEvents(file) + left, events);
}

TEST_F(EngineTest, ThreadsRecordSideBySide) {
  Start({});
  constexpr int kThreads = 8, kCalls = 20'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kCalls; ++i) {
        engine::Enter<TimeTree>({Handle(i % 40), 1000, 1, 0, 0});
        if (i % 1000 == 0) session_->threads().ForgetMethods();
        engine::Leave<TimeTree>({Handle(i % 40), 1000, 1, 0, 0});
      }
      ThreadRegistry::Detach();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Sum().entries, uint64_t{kThreads} * kCalls);
  EXPECT_EQ(Sum().exits, uint64_t{kThreads} * kCalls);
  EXPECT_EQ(session_->writer().header()->thread_count, uint32_t{kThreads});
  EXPECT_EQ(session_->writer().header()->method_count, 1u + 40);
}

TEST_F(EngineTest, CountersAreAttributedToTheNodeThatRan) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "a sanitizer touches memory of its own: page faults are not exact";
#endif
  SessionOptions options;
  options.clock = false;
  options.counters = {{"page-faults", 1, 2, 0, 0, 0}};
  Start(std::move(options));
  Enter<OneCounter>(1);
  Leave<OneCounter>(1);
  Enter<OneCounter>(1);
  constexpr size_t kPages = 50;
  auto* pages = static_cast<volatile char*>(
      mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(const_cast<char*>(pages), kPages * 4096, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < kPages; ++i) pages[i * 4096] = 1;
  Leave<OneCounter>(1);
  munmap(const_cast<char*>(pages), kPages * 4096);
  if (current_thread->record->flags & profile::kThreadNoCounters) {
    GTEST_SKIP() << "no perf events here";
  }
  const Node* nodes = session_->writer().nodes();
  EXPECT_EQ(nodes[current_thread->cursor.top[-1].node->child[0].node].self, int64_t{kPages});
}

TEST_F(EngineTest, TrainWritesOneRecordPerEventAndMetric) {
  SessionOptions options;
  options.files.train = true;
  options.files.metric_count = 3;
  options.counters = {{"page-faults", 1, 2, 0, 0, 0}, {"context-switches", 1, 3, 0, 0, 0}};
  Start(std::move(options));
  ListTree oracle;
  RunRandom<Training<TimeAndCounters>>(oracle, 5, 9, 50'000, false);
  EXPECT_EQ(Contexts(), oracle.contexts());
  if (current_thread->record->flags & profile::kThreadNoCounters)
    GTEST_SKIP() << "no perf events here";
  // In the run being written: the three metrics of each event in order, with the same event in all
  // of them.
  const auto* record = current_thread->training.end - (1 << 14);
  for (; record + 3 <= current_thread->training.next; record += 3) {
    for (int metric = 0; metric < 3; ++metric) {
      ASSERT_EQ(record[metric].event >> 1, metric);
      ASSERT_EQ(record[metric].to, record[0].to);
      ASSERT_EQ(record[metric].event & 1, record[0].event & 1);
    }
  }
}

}  // namespace
}  // namespace jprof::engine
