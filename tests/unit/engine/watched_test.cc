// Calls that are timed one by one, without a JVM: the test makes a list of all calls and their
// times and compares it with the distributions in the mapped file.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "jprof/engine/events.h"
#include "jprof/engine/session.h"
#include "jprof/engine/watched/watched_calls.h"

namespace jprof::engine {
namespace {

using profile::DistributionRecord;
using profile::DurationRecord;
using profile::Node;
using MethodPath = std::vector<uint32_t>;  // methods, outermost first

constexpr uint64_t kFirstWatched = 0x7f0000001000;
constexpr uint32_t kWatchedMethods = 3;  // methods 0, 1 and 2
uint64_t HandleOf(uint32_t method) { return kFirstWatched + method * 0x60; }

class NumberedMethods : public MethodSource {
 public:
  bool Describe(uint64_t method, MethodText* text) override {
    thread_local std::string name;
    name = std::to_string((method - kFirstWatched) / 0x60);
    *text = {"pkg/Class", name, "()V", false, false};
    return true;
  }
  FrameKind Classify(uint64_t return_address) override {
    ++classified;
    return static_cast<FrameKind>(return_address & 3);
  }
  uint64_t VirtualThreadId(uint64_t vm_thread) override { return vm_thread; }

  std::atomic<int> classified = 0;
};

// A call of the list: the raw clock after its entry and before its exit, without the time that the
// test has spent in the engine.
struct ListedCall {
  int64_t begin = 0, end = 0;
  bool disturbed = false;  // a handler took long meanwhile
};

uint64_t CallsOf(const DurationRecord& durations) {
  uint64_t calls = 0;
  for (const profile::TimedCalls& bucket : durations.buckets) calls += bucket.calls;
  return calls;
}

class WatchedTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-watched-XXXXXX";
    directory_ = mkdtemp(name);
  }
  void TearDown() override {
    ThreadRegistry::Detach();
    session_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Start(SessionOptions options = {}) {
    options.files.directory = directory_ + "/p";
    options.files.distributions = true;
    options.watch = [](std::string_view, std::string_view name) -> uint64_t {
      const int number = std::stoi(std::string(name));
      return number < static_cast<int>(kWatchedMethods) ? uint64_t{1} << number : 0;
    };
    session_ = std::make_unique<Session>();
    const auto started = session_->Start(std::move(options), &methods_);
    ASSERT_TRUE(started) << started.error().message;
  }

  void Enter(uint32_t method, uint64_t return_address = 1) {
    const int64_t now = ptm::ReadTsc();
    engine::Enter<TimeTree>(
        {HandleOf(method), 1'000'000 - 100 * ++depth_, return_address, mounted_, mounted_});
    Spend(ptm::ReadTsc() - now);
    path_.push_back(method);
    open_.push_back({ptm::ReadTsc() - in_engine_, 0});
  }
  void Leave() {
    const int64_t now = ptm::ReadTsc();
    engine::Leave<TimeTree>(
        {HandleOf(path_.back()), 1'000'000 - 100 * depth_--, 1, mounted_, mounted_});
    List(now - in_engine_);
    Spend(ptm::ReadTsc() - now);
  }
  // The innermost call ends without an exit.
  void Vanish() {
    --depth_;
    List(ptm::ReadTsc() - in_engine_);
  }
  void Spend(int64_t ticks) {
    in_engine_ += ticks;
    if (static_cast<double>(ticks) < kClear / 10) return;
    for (ListedCall& call : open_) call.disturbed = true;
  }
  void List(int64_t now) {
    open_.back().end = now;
    if (path_.back() < kWatchedMethods) list_[path_].push_back(open_.back());
    path_.pop_back();
    open_.pop_back();
  }

  // Expects a number of events. One at which the thread was dispatched may count twice, or not.
  static void ExpectEvents(uint64_t events, uint64_t expected) {
    const uint64_t dispatches = current_thread->record->dispatches;
    EXPECT_LE(events, expected + dispatches);
    EXPECT_GE(events + dispatches, expected);
  }

  static void Work(int64_t ticks) {
    const int64_t end = ptm::ReadTsc() + ticks;
    while (ptm::ReadTsc() < end) {
    }
  }

  // Returns the distribution of each context that has one.
  std::map<MethodPath, const DistributionRecord*> Distributions() {
    std::map<MethodPath, const DistributionRecord*> found;
    profile::Writer& writer = session_->writer();
    for (uint32_t i = 0; i < writer.header()->distributions; ++i) {
      const DistributionRecord* const record = writer.DistributionAt(i);
      MethodPath path;
      for (const Node* at = writer.nodes() + record->node; at->parent != 0;
           at = writer.nodes() + at->parent)
        path.insert(path.begin(), NumberOf(profile::MethodOf(at->ref)));
      EXPECT_TRUE(found.emplace(path, record).second);
    }
    return found;
  }
  uint32_t NumberOf(profile::MethodId id) {
    const char* at = session_->writer().methods();
    for (;;) {
      const auto* record = reinterpret_cast<const profile::MethodRecord*>(at);
      if (record->id == IndexOf(id))
        return static_cast<uint32_t>(std::stoul(
            std::string(at + sizeof *record + record->class_length, record->name_length)));
      at += record->bytes;
    }
  }

  // Compares all distributions by elapsed time with the list: as many calls are below each end of a
  // bucket, but for those whose times are near it, because handlers that are not timed alone add a
  // little, and for calls during which a handler was interrupted, which only one of the two sees.
  void ExpectTheList() {
    const auto distributions = Distributions();
    EXPECT_EQ(distributions.size(), list_.size());
    for (const auto& [path, listed] : list_) {
      const auto found = distributions.find(path);
      ASSERT_NE(found, distributions.end()) << testing::PrintToString(path);
      const DistributionRecord& record = *found->second;
      EXPECT_EQ(CallsOf(record.cpu), listed.size());
      EXPECT_EQ(CallsOf(record.elapsed), listed.size());
      const auto disturbed = std::ranges::count(listed, true, &ListedCall::disturbed);
      const int64_t slack = 1 + disturbed + static_cast<int64_t>(listed.size()) / 50;
      const auto below = [&](double ticks) {
        return std::ranges::count_if(listed, [&](const ListedCall& call) {
          return static_cast<double>(call.end - call.begin) < ticks;
        });
      };
      int64_t counted = 0;
      for (uint32_t i = 0; i + 1 < profile::kDurationBuckets; ++i) {
        counted += static_cast<int64_t>(record.elapsed.buckets[i].calls);
        const auto end = static_cast<double>(profile::BucketBegin(i + 1));
        if (end < kClear) continue;
        EXPECT_GE(counted, below(0.8 * end) - slack) << testing::PrintToString(path) << end;
        EXPECT_LE(counted, below(1.1 * end) + slack) << testing::PrintToString(path) << end;
      }
      EXPECT_GE(record.elapsed.longest.ticks, record.elapsed.shortest.ticks);
      EXPECT_EQ(record.elapsed.shortest.calls + record.elapsed.longest.calls, 2u);
    }
  }

  // Ticks, against which handlers are short. With sanitizers they take many times longer.
#ifdef JPROF_SANITIZED
  static constexpr double kClear = 1'000'000;
#else
  static constexpr double kClear = 20'000;
#endif

  std::string directory_;
  NumberedMethods methods_;
  std::unique_ptr<Session> session_;
  uint64_t depth_ = 0;
  uint64_t mounted_ = 0;
  int64_t in_engine_ = 0;  // ticks
  MethodPath path_;
  std::vector<ListedCall> open_;
  std::map<MethodPath, std::vector<ListedCall>> list_;
};

TEST_F(WatchedTest, EveryCallIsInTheDistributionOfItsContext) {
  Start();
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    if (path_.empty() || (path_.size() < 4 && random() % 2 == 0)) {
      Enter(static_cast<uint32_t>(random() % 5), 1 + random() % 3);
    } else {
      Work(int64_t{1} << (random() % 17));
      Leave();
    }
  }
  while (!path_.empty()) Leave();
  ExpectTheList();
  EXPECT_EQ(session_->writer().header()->watched_patterns, 7u);
  EXPECT_EQ(session_->writer().header()->lost_durations, 0u);
  EXPECT_EQ(current_thread->record->healed + current_thread->record->unmatched, 0u);
}

TEST_F(WatchedTest, RecursiveCallsHaveEachTheirTimeWithTheInnerOnes) {
  Start();
  constexpr size_t kDepth = 300;  // more than the first stack of watched calls
  for (size_t i = 0; i < kDepth; ++i) Enter(1);
  Work(2'000'000);
  for (size_t i = 0; i < kDepth; ++i) Leave();
  const auto distributions = Distributions();
  EXPECT_EQ(distributions.size(), kDepth);
  for (const auto& [path, record] : distributions) {
    EXPECT_EQ(CallsOf(record->cpu), 1u);
    EXPECT_GE(record->elapsed.shortest.ticks, 2'000'000u);
    ExpectEvents(record->cpu.shortest.events, 1 + 2 * (kDepth - path.size()));
    ExpectEvents(record->cpu.shortest.timed, 1 + 2 * (kDepth - path.size()));
  }
}

TEST_F(WatchedTest, TheEventsInsideACallAreKnownExactly) {
  Start();
  const auto run = [&](int inner) {
    Enter(0);
    for (int i = 0; i < inner; ++i) {
      Enter(4);
      Leave();
    }
    Leave();
  };
  run(3);  // makes the nodes
  uint64_t events = 0;
  const DistributionRecord& record = *Distributions().at({0});
  const auto sum = [&] {
    uint64_t all = 0;
    for (const profile::TimedCalls& bucket : record.cpu.buckets) all += bucket.events;
    return all;
  };
  events = sum();
  ExpectEvents(events, 7);
  for (const int inner : {0, 1, 10, 1000, 12'345}) {
    run(inner);
    const uint64_t now = sum();
    ExpectEvents(now - events, 2 * inner + 1);
    events = now;
  }
  EXPECT_GT(record.handler_ticks, 0);
}

TEST_F(WatchedTest, ALabelIsNoEventOfACallAndMatchesNoPattern) {
  Start();
  for (int i = 0; i < 10; ++i) {
    Enter(0);
    for (int k = 0; k < 100; ++k) SetLabel<TimeTree>("1");
    Leave();
  }
  const DistributionRecord& record = *Distributions().at({0});
  for (const profile::TimedCalls& bucket : record.cpu.buckets) {
    EXPECT_LE(bucket.events, 2 * bucket.calls);  // an event at a dispatch may be counted twice
    EXPECT_LE(bucket.timed, 2 * bucket.calls);
  }
  EXPECT_EQ(session_->writer().header()->watched_patterns, 1u);
}

TEST_F(WatchedTest, WhatSleepsIsOnlyInTheElapsedTime) {
  Start();
  Enter(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  Leave();
  const DistributionRecord& record = *Distributions().at({0});
  const double ms = session_->clock().ticks_per_second / 1000;
  EXPECT_GE(static_cast<double>(record.elapsed.longest.ticks), 19 * ms);
  if (current_thread->record->flags & profile::kThreadNoClock)
    GTEST_SKIP() << "no perf events here";
  EXPECT_LT(static_cast<double>(record.cpu.longest.ticks), 10 * ms);
}

TEST_F(WatchedTest, ACallThatEndsWithoutAnExitIsTimed) {
  Start();
  for (int i = 0; i < 100; ++i) {
    Enter(4);
    Enter(0);
    Enter(1);
    Work(50'000);
    Vanish();
    Vanish();
    Leave();  // of method 4
  }
  ExpectTheList();
  EXPECT_EQ(current_thread->record->healed, 200u);
}

TEST_F(WatchedTest, VirtualThreadsTakeTheirCallsFromCarrierToCarrier) {
  Start();
  const auto on = [&](uint64_t thread, auto events) {
    mounted_ = thread;
    events();
    mounted_ = 0;
  };
  // Two virtual threads on this carrier, one of which goes on on another one.
  Enter(4);
  Leave();
  const uint64_t depth = depth_;
  on(100, [&] {
    Enter(0);
    Work(1'000'000);
  });
  const auto open = std::exchange(open_, {});
  const MethodPath path = std::exchange(path_, {});
  on(200, [&] {
    Enter(1);
    Work(8'000'000);
    Leave();
  });
  open_ = open;
  path_ = path;
  std::thread([&] {
    mounted_ = 0;
    Enter(4);
    for (int i = 0; i < 1000; ++i) {
      Enter(3);
      Leave();
    }
    Leave();
    on(100, [&] {
      Work(1'000'000);
      depth_ = depth + 1;
      Leave();
    });
    ThreadRegistry::Detach();
  }).join();
  const auto distributions = Distributions();
  ASSERT_EQ(distributions.size(), 2u);
  const DistributionRecord& moved = *distributions.at({0});
  const DistributionRecord& other = *distributions.at({1});
  EXPECT_GE(moved.elapsed.longest.ticks, 10'000'000u);
  EXPECT_LT(moved.cpu.longest.ticks, moved.elapsed.longest.ticks - 8'000'000u);
  EXPECT_GE(other.elapsed.longest.ticks, 8'000'000u);
  EXPECT_LE(moved.cpu.longest.events, 4u);  // none of those on the carriers meanwhile
}

// What the engine does when a virtual thread is unmounted and mounted again is in no call of it:
// what remains is an interval more, as between any two events, and what timing leaves of two.
TEST_F(WatchedTest, ChangesOfVirtualThreadsAreInNoCall) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "handlers take much longer";
#endif
  Start();
  constexpr int kCalls = 400, kTurns = 50;
  constexpr uint64_t kVirtual = 100;
  int64_t shortest_change = INT64_MAX;  // of an unmount and a mount, with their handlers
  const auto pair = [](uint32_t method, uint64_t thread) {
    engine::Enter<TimeTree>({HandleOf(method), 900'000, 1, thread, thread});
    engine::Leave<TimeTree>({HandleOf(method), 900'000, 1, thread, thread});
  };
  const auto call = [&](uint32_t method, bool changes) {
    engine::Enter<TimeTree>({HandleOf(method), 1'000'000, 1, kVirtual, kVirtual});
    for (int turn = 0; turn < kTurns; ++turn) {
      const int64_t begin = ptm::ReadTsc();
      if (changes) pair(4, 0);  // of the carrier
      pair(3, kVirtual);
      if (changes) shortest_change = std::min(shortest_change, ptm::ReadTsc() - begin);
    }
    engine::Leave<TimeTree>({HandleOf(method), 1'000'000, 1, kVirtual, kVirtual});
  };
  for (int i = 0; i < kCalls; ++i) {
    call(0, false);
    call(1, true);
  }
  // Returns what is left of the shortest call without the handlers inside, of one turn.
  const auto left = [&](uint32_t method) {
    const DistributionRecord& record = *Distributions().at({method});
    uint64_t handlers = 0;
    for (const profile::TimedCalls& bucket : record.cpu.buckets)
      handlers += bucket.events - bucket.timed;
    const double mean = static_cast<double>(record.handler_ticks) /
                        static_cast<double>(std::max<uint64_t>(1, handlers));
    const profile::TimedCalls& shortest = record.cpu.shortest;
    return (static_cast<double>(shortest.ticks) -
            mean * static_cast<double>(shortest.events - shortest.timed)) /
           kTurns;
  };
  const double without = left(0), with = left(1);
  if (current_thread->record->flags & profile::kThreadNoClock)
    GTEST_SKIP() << "no perf events here";
  RecordProperty("turn", std::to_string(without));
  RecordProperty("turn_with_changes", std::to_string(with));
  RecordProperty("change", std::to_string(shortest_change));
  EXPECT_LT(with - without, static_cast<double>(shortest_change) / 3)
      << without << " " << with << " of " << shortest_change;
}

TEST_F(WatchedTest, TheTypeOfAMethodIsLookedUpOnlyWhenItIsCompiledAnew) {
  Start();
  for (int i = 0; i < 100; ++i) {
    Enter(0, 1);
    Leave();
  }
  EXPECT_EQ(methods_.classified, 1);
  Enter(0, 2);
  Leave();
  EXPECT_EQ(methods_.classified, 2);
  EXPECT_EQ(CallsOf(Distributions().at({0})->cpu), 101u);
}

TEST_F(WatchedTest, CallsInTheOverflowOfTheTreeAreLost) {
  SessionOptions options;
  options.files.tree_memory = 64 << 10;
  options.fold_recursion = true;
  Start(std::move(options));
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    if (path_.empty() || (path_.size() < 12 && random() % 2 == 0))
      Enter(static_cast<uint32_t>(random() % 60));
    else
      Leave();
  }
  while (!path_.empty()) Leave();
  uint64_t listed = 0, timed = session_->writer().header()->lost_durations;
  EXPECT_GT(timed, 0u);
  for (const auto& [path, calls] : list_) listed += calls.size();
  for (uint32_t i = 0; i < session_->writer().header()->distributions; ++i)
    timed += CallsOf(session_->writer().DistributionAt(i)->cpu);
  EXPECT_EQ(timed, listed);
}

TEST_F(WatchedTest, WithoutSpaceForDistributionsCallsAreStillCounted) {
  Start();
  session_->writer().header()->disk_full = 1;
  profile::Writer& writer = session_->writer();
  while (writer.AllocateDistribution() != nullptr) {
  }
  for (int i = 0; i < 5; ++i) {
    Enter(0);
    Leave();
  }
  EXPECT_EQ(writer.header()->lost_durations, 5u);
  EXPECT_EQ(current_thread->record->unmatched, 0u);
}

}  // namespace
}  // namespace jprof::engine
