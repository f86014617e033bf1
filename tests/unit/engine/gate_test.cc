// What a recording is limited to, without a JVM: a list of random calls, of which a slow rule picks
// those that are recorded, is compared with the tree.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "jprof/engine/events.h"
#include "jprof/engine/session.h"

namespace jprof::engine {
namespace {

using profile::Node;
using MethodPath = std::vector<uint32_t>;  // methods, outermost first

constexpr uint64_t kFirstMethod = 0x7f0000001000;
constexpr uint32_t kGates = 2;  // methods 0 and 1
uint64_t HandleOfGated(uint32_t method) { return kFirstMethod + method * 0x60; }

class GatedMethods : public MethodSource {
 public:
  bool Describe(uint64_t method, MethodText* text) override {
    thread_local std::string name;
    name = std::to_string((method - kFirstMethod) / 0x60);
    *text = {"pkg/Class", name, "()V", false, false};
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kInterpreted; }
  uint64_t VirtualThreadId(uint64_t vm_thread) override { return vm_thread; }
};

class GateTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-gate-XXXXXX";
    directory_ = mkdtemp(name);
  }
  void TearDown() override {
    ThreadRegistry::Detach();
    session_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Start(bool gates, uint64_t after = 0, bool paused = false) {
    SessionOptions options;
    options.files.directory = directory_ + "/p";
    options.gate_after = after;
    options.begins_paused = paused;
    if (gates) {
      options.gates = [](std::string_view, std::string_view name) -> uint64_t {
        return std::stoul(std::string(name)) < kGates ? 1 : 0;
      };
    }
    after_ = after;
    gates_ = gates;
    session_ = std::make_unique<Session>();
    ASSERT_TRUE(session_->Start(std::move(options), &methods_));
  }

  // A stack of calls, which runs on the calling thread as a virtual thread or not (0).
  struct Calls {
    uint64_t mounted = 0;
    MethodPath path{};
    size_t inside = 0;   // one more than the place of the outermost recorded gate, or 0
    size_t skipped = 0;  // the same of one that is not recorded
  };

  static uint64_t StackPointer(const Calls& calls) {
    return 10'000'000 - 8192 * (calls.path.size() + 1);
  }

  void Enter(Calls& calls, uint32_t method) {
    engine::Enter<TimeTree>(
        {HandleOfGated(method), StackPointer(calls), method % 3 + 1, calls.mounted, calls.mounted});
    calls.path.push_back(method);
    if (paused_) return;
    if (gates_ && calls.inside == 0 && calls.skipped == 0 && method < kGates)
      (taken_++ < after_ ? calls.skipped : calls.inside) = calls.path.size();
    if (gates_ && calls.inside == 0) return;
    const size_t begin = gates_ ? calls.inside - 1 : 0;
    ++list_[{calls.path.begin() + static_cast<ptrdiff_t>(begin), calls.path.end()}];
  }
  // `seen` is whether there is an event.
  void Leave(Calls& calls, bool seen = true) {
    const uint32_t method = calls.path.back();
    if (calls.inside == calls.path.size()) calls.inside = 0;
    if (calls.skipped == calls.path.size()) calls.skipped = 0;
    calls.path.pop_back();
    if (seen)
      engine::Leave<TimeTree>(
          {HandleOfGated(method), StackPointer(calls), 1, calls.mounted, calls.mounted});
  }

  void RandomCalls(Calls& calls, std::mt19937& random, int steps) {
    for (int i = 0; i < steps; ++i) {
      if (const size_t depth = calls.path.size(); depth > 0 && (depth == 12 || random() % 2 == 0)) {
        Leave(calls);
      } else {
        Enter(calls, static_cast<uint32_t>(random() % 6));
      }
    }
  }

  // Returns the numbers of calls of all contexts that have any, and expects as many exits.
  std::map<MethodPath, uint64_t> Counted(bool ended = true) {
    std::map<MethodPath, uint64_t> found;
    profile::Writer& writer = session_->writer();
    for (uint32_t i = 1; i < writer.header()->node_count; ++i) {
      const Node& node = writer.nodes()[i];
      const uint64_t calls = uint64_t{node.entries[0]} + node.entries[1];
      if (calls == 0 || node.parent == 0) continue;
      MethodPath path;
      for (const Node* at = &node; at->parent != 0; at = writer.nodes() + at->parent)
        path.insert(path.begin(), NumberOf(profile::MethodOf(at->ref)));
      found[path] += calls;
      const uint64_t exits = uint64_t{node.exits[0]} + node.exits[1];
      EXPECT_EQ(ended ? exits : calls, calls);
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

  std::string directory_;
  GatedMethods methods_;
  std::unique_ptr<Session> session_;
  std::map<MethodPath, uint64_t> list_;
  uint64_t after_ = 0, taken_ = 0;
  bool gates_ = false, paused_ = false;
};

TEST_F(GateTest, RecordsTheCallsInsideOfGates) {
  Start(true);
  std::mt19937 random(1);
  Calls calls;
  RandomCalls(calls, random, 200'000);
  while (!calls.path.empty()) Leave(calls);
  EXPECT_EQ(Counted(), list_);
  EXPECT_EQ(current_thread->record->unmatched + current_thread->record->healed, 0u);
  const Node& row = session_->writer().nodes()[current_thread->record->root];
  EXPECT_EQ(row.self, 0);
}

TEST_F(GateTest, LeavesOutTheFirstCalls) {
  Start(true, 1000);
  std::mt19937 random(2);
  Calls calls;
  RandomCalls(calls, random, 100'000);
  while (!calls.path.empty()) Leave(calls);
  EXPECT_GT(taken_, 1000u);
  EXPECT_EQ(session_->writer().header()->gate_calls, taken_);
  EXPECT_EQ(Counted(), list_);
}

// A call whose exit is not seen ends at the next event that shows it.
TEST_F(GateTest, GatesThatEndWithoutAnExitAreLeft) {
  Start(true);
  Calls calls;
  for (const bool by_exit : {true, false}) {
    for (const uint32_t method : {3, 0, 4}) Enter(calls, method);
    Leave(calls, false);
    Leave(calls, false);
    Leave(calls, by_exit);
    Enter(calls, 5);  // is outside
    Leave(calls);
  }
  Enter(calls, 1);
  Leave(calls);
  EXPECT_EQ(Counted(), list_);
  EXPECT_EQ(current_thread->record->healed, 4u);
}

// The same of a call that is left out, of which the exit of an outer one shows that it has ended.
TEST_F(GateTest, CallsThatAreLeftOutEndWithoutAnExit) {
  Start(true, 1);
  Calls calls;
  for (const uint32_t method : {3, 0, 4, 1, 5}) Enter(calls, method);
  for (const bool seen : {true, false, true, true}) Leave(calls, seen);
  for (const uint32_t method : {0, 4}) Enter(calls, method);
  while (!calls.path.empty()) Leave(calls);
  EXPECT_EQ(Counted(), list_);
  EXPECT_EQ(session_->writer().header()->gate_calls, 2u);
}

TEST_F(GateTest, VirtualThreadsAreInsideForThemselves) {
  Start(true, 10);
  std::mt19937 random(4);
  std::vector<Calls> all;
  for (uint64_t i = 0; i < 20; ++i) all.push_back({.mounted = i});
  for (int i = 0; i < 3000; ++i) RandomCalls(all[random() % all.size()], random, 20);
  for (Calls& calls : all)
    while (!calls.path.empty()) Leave(calls);
  EXPECT_EQ(Counted(), list_);
}

TEST_F(GateTest, RecordsWhatIsBetweenStartAndStop) {
  for (const bool gates : {false, true}) {
    SCOPED_TRACE(gates);
    list_.clear();
    taken_ = 0;
    Start(gates, 0, true);
    paused_ = true;
    std::mt19937 random(5);
    Calls calls;
    for (int i = 0; i < 400; ++i) {
      RandomCalls(calls, random, 100);
      // Calls that are on the stack at a start are not known afterwards.
      while (!calls.path.empty()) Leave(calls);
      paused_ ? session_->gate().Start() : session_->gate().Stop();
      paused_ = !paused_;
    }
    EXPECT_EQ(Counted(), list_);
    EXPECT_EQ(session_->writer().header()->starts, 200u);
    EXPECT_EQ(session_->writer().header()->stops, 200u);
    EXPECT_EQ(current_thread->record->dropped + current_thread->record->unmatched, 0u);
    TearDown();
    SetUp();
  }
  Start(false);
}

// Virtual threads that end while the recording is paused leave no rows for which nobody comes.
TEST_F(GateTest, RowsOfVirtualThreadsThatEndInAPauseAreUsedAgain) {
  Start(true);
  constexpr uint64_t kThreads = 20;
  for (uint64_t round = 0; round < 30; ++round) {
    std::vector<Calls> all;
    for (uint64_t i = 1; i <= kThreads; ++i) all.push_back({.mounted = round * kThreads + i});
    for (const uint32_t method : {0, 3})
      for (Calls& calls : all) Enter(calls, method);
    session_->gate().Stop();
    for (Calls& calls : all)
      while (!calls.path.empty()) Leave(calls);
    session_->gate().Start();
  }
  EXPECT_EQ(Counted(false), list_);
  EXPECT_LE(session_->writer().header()->thread_count, kThreads + 2);
}

TEST_F(GateTest, AStartBeginsBelowTheThread) {
  Start(false);
  Calls calls;
  Enter(calls, 2);
  Enter(calls, 3);
  session_->gate().Stop();
  Enter(calls, 4);
  Leave(calls);
  session_->gate().Start();
  Enter(calls, 5);
  Leave(calls);
  Leave(calls);
  Leave(calls);
  const std::map<MethodPath, uint64_t> expected = {{{2}, 1}, {{2, 3}, 1}, {{5}, 1}};
  EXPECT_EQ(Counted(false), expected);
  EXPECT_EQ(current_thread->record->unmatched, 0u);
}

TEST_F(GateTest, OtherThreadsFollow) {
  Start(false, 0, true);
  std::atomic<int> step = 0;
  const auto await = [&step](int which) {
    while (step < which) std::this_thread::yield();
  };
  std::thread other([&] {
    Calls calls;
    for (int which = 0; which < 20; ++which) {
      for (int i = 0; i < 100; ++i) {
        engine::Enter<TimeTree>({HandleOfGated(2), 1000, 1, 0, 0});
        engine::Leave<TimeTree>({HandleOfGated(2), 1000, 1, 0, 0});
      }
      ++step;
      await(2 * which + 2);
    }
    ThreadRegistry::Detach();
  });
  for (int which = 0; which < 20; ++which) {
    await(2 * which + 1);
    which % 2 == 0 ? session_->gate().Start() : session_->gate().Stop();
    ++step;
  }
  other.join();
  const std::map<MethodPath, uint64_t> expected = {{{2}, 1000}};
  EXPECT_EQ(Counted(), expected);
}

}  // namespace
}  // namespace jprof::engine
