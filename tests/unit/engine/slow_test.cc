// What a trace keeps for slow calls, without a JVM: the test calls slow and fast methods, and
// compares the kept blocks of the mapped file with its own list.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "jprof/engine/events.h"
#include "jprof/engine/session.h"
#include "profile/files/slow_call.h"

namespace jprof::engine {
namespace {

using profile::kTraceBlockBytes;
using profile::SlowCall;
using profile::SlowCounts;
using profile::SlowKind;
using profile::TraceBlock;

constexpr uint64_t kFirstSlowHandle = 0x7f0000001000;
constexpr uint32_t kWatched = 1, kOtherWatched = 2, kFast = 5;
constexpr uint64_t kSlowNs = 2'000'000;
uint64_t SlowHandleOf(uint32_t method) { return kFirstSlowHandle + method * 0x60; }

class SlowMethodNames : public MethodSource {
 public:
  bool Describe(uint64_t method, MethodText* text) override {
    thread_local std::string name;
    name = std::to_string((method - kFirstSlowHandle) / 0x60);
    *text = {"pkg/Class", name, "()V", false, false};
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kJitted; }
  uint64_t VirtualThreadId(uint64_t vm_thread) override { return vm_thread; }
};

class SlowTraceTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-slow-XXXXXX";
    directory_ = mkdtemp(name);
  }
  void TearDown() override {
    ThreadRegistry::Detach();
    session_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Start(uint64_t ring_blocks = 8, uint64_t slow_memory = 64 << 20) {
    SessionOptions options;
    options.files.directory = directory_ + "/p";
    options.files.trace = options.files.slow_calls = true;
    options.trace_keep = TraceKeep::kWrap;
    options.trace_memory = ring_blocks * kTraceBlockBytes;
    options.slow_ns = {kSlowNs, kSlowNs};
    options.slow_memory = slow_memory;
    options.watch = [](std::string_view, std::string_view name) -> uint64_t {
      return name == "1" ? 1 : name == "2" ? 2 : 0;
    };
    session_ = std::make_unique<Session>();
    const auto started = session_->Start(std::move(options), &methods_);
    ASSERT_TRUE(started) << started.error().message;
  }

  void Enter(uint32_t method) {
    engine::Enter<TimeTrace>(
        {SlowHandleOf(method), 1'000'000 - 100 * ++depth_, 1, mounted_, mounted_});
  }
  void Leave(uint32_t method) {
    engine::Leave<TimeTrace>(
        {SlowHandleOf(method), 1'000'000 - 100 * depth_--, 1, mounted_, mounted_});
  }
  void Call(uint32_t method) {
    Enter(method);
    Leave(method);
  }
  void CallMany(uint32_t method, int times) {
    for (int i = 0; i < times; ++i) Call(method);
  }
  // Calls a fast method inside until the call is slow. Returns how often.
  uint64_t SpinInside() {
    const auto ticks = static_cast<int64_t>(1.1 * static_cast<double>(kSlowNs) *
                                            session_->clock().ticks_per_second / 1e9);
    const int64_t end = ptm::ReadTsc() + ticks;
    uint64_t calls = 0;
    for (; ptm::ReadTsc() < end; ++calls) Call(kFast);
    return calls;
  }
  // A slow call with as many events as a ring of so many blocks holds at least.
  uint64_t FillInside(uint64_t blocks) {
    const uint64_t before = Record().trace_events;
    const uint64_t sequence = current_thread->timeline.trace_sequence;
    while (current_thread->timeline.trace_sequence < sequence + blocks) Call(kFast);
    SpinInside();
    return (Record().trace_events - before) / 2;
  }

  const profile::ThreadRecord& Record() const { return *current_thread->timeline.record; }
  profile::ControlHeader& Header() { return *session_->writer().header(); }

  std::vector<SlowCall> Records() {
    std::vector<SlowCall> records(Header().slow_records);
    std::FILE* const file = std::fopen((directory_ + "/p/slow_calls").c_str(), "rb");
    EXPECT_EQ(std::fread(records.data(), sizeof(SlowCall), records.size(), file), records.size());
    std::fclose(file);
    return records;
  }
  std::vector<SlowCall> Calls() {
    std::vector<SlowCall> calls = Records();
    std::erase_if(calls, [](const SlowCall& call) { return call.kind != SlowKind::kCall; });
    return calls;
  }
  // Sums of all threads.
  SlowCounts Counts() {
    SlowCounts sum;
    for (const SlowCall& record : Records()) {
      if (record.kind != SlowKind::kCounts) continue;
      const auto counts = std::bit_cast<SlowCounts>(record);
      sum.calls += counts.calls;
      sum.slow += counts.slow;
      sum.unended += counts.unended;
    }
    return sum;
  }
  // The kept blocks of a row, in their order.
  std::vector<TraceBlock> KeptBlocks(uint32_t row = 0) {
    std::vector<TraceBlock> blocks;
    for (uint64_t i = 0; i < Header().trace_blocks; ++i) {
      const auto* const block =
          reinterpret_cast<const TraceBlock*>(session_->writer().trace() + i * kTraceBlockBytes);
      if (block->kept == profile::kKeptBlock && block->thread == row) blocks.push_back(*block);
    }
    std::ranges::sort(blocks, std::less(), &TraceBlock::sequence);
    return blocks;
  }
  // Expects that the blocks have all events of the call without a gap, and a block before it.
  void ExpectKept(const SlowCall& call, bool with_block_before = true) {
    const std::vector<TraceBlock> blocks = KeptBlocks(call.thread);
    const auto has = [](const TraceBlock& block, uint64_t event) {
      return block.first_event <= event && event < block.first_event + block.events;
    };
    const auto first = std::ranges::find_if(
        blocks, [&](const TraceBlock& block) { return has(block, call.first_event); });
    ASSERT_NE(first, blocks.end());
    uint64_t next = first->first_event;
    for (auto block = first; block != blocks.end() && next <= call.last_event; ++block) {
      EXPECT_EQ(block->first_event, next);
      next += block->events;
    }
    EXPECT_GT(next, call.last_event);
    if (!with_block_before) return;
    ASSERT_NE(first, blocks.begin());
    EXPECT_EQ(std::prev(first)->sequence + 1, first->sequence);
  }

  SlowMethodNames methods_;
  std::unique_ptr<Session> session_;
  std::string directory_;
  uint64_t depth_ = 0, mounted_ = 0;
};

TEST_F(SlowTraceTest, KeepsNothingOfFastCalls) {
  Start();
  for (int i = 0; i < 60'000; ++i) {
    Enter(kWatched);
    CallMany(kFast, 3);
    Leave(kWatched);
  }
  EXPECT_EQ(Counts().calls, 60'000u);
  // A loaded machine may have made some of them slow.
  EXPECT_EQ(Counts().slow, Calls().size());
  if (Calls().empty()) {
    EXPECT_TRUE(KeptBlocks().empty());
    EXPECT_GT(Record().trace_overwritten, 0u);
  }
  EXPECT_EQ(Header().slow_unended, 0u);
}

TEST_F(SlowTraceTest, KeepsASlowCallWithItsEventsAndWhatLedToIt) {
  Start(40);
  CallMany(kFast, 500'000);
  EXPECT_GT(Record().trace_overwritten, 0u);
  Enter(kWatched);
  const uint64_t calls = SpinInside();
  Leave(kWatched);
  CallMany(kFast, 50'000);
  ASSERT_EQ(Calls().size(), 1u);
  const SlowCall call = Calls()[0];
  EXPECT_EQ(call.first_event, 1'000'000u);
  EXPECT_EQ(call.last_event, 1'000'000 + 2 * calls + 1);
  EXPECT_EQ(call.flags, 0u);
  EXPECT_GE(call.wall_ns, kSlowNs);
  ExpectKept(call);
  // At most the blocks of the call, one before it, and parts of two.
  EXPECT_LE(KeptBlocks().size(), 2 * calls * 6 / kTraceBlockBytes + 4);
}

TEST_F(SlowTraceTest, KeepsSlowCallsThatAreNestedOrFollowEachOther) {
  Start(64);
  for (int i = 0; i < 3; ++i) {
    CallMany(kFast, 1000);
    Enter(kWatched);
    Enter(kOtherWatched);
    SpinInside();
    Leave(kOtherWatched);
    CallMany(kFast, 10);
    Leave(kWatched);
  }
  const std::vector<SlowCall> calls = Calls();
  ASSERT_EQ(calls.size(), 6u);  // the inner ones end first
  for (const SlowCall& call : calls) ExpectKept(call, false);
  EXPECT_EQ(calls[0].item, 1u);
  EXPECT_EQ(calls[1].item, 0u);
  EXPECT_LT(calls[1].first_event, calls[0].first_event);
  EXPECT_EQ(Counts().calls, 6u);
  EXPECT_EQ(Counts().slow, 6u);
  EXPECT_EQ(Header().slow_cut, 0u);
}

// The blocks that are kept leave the ring, which then has new ones.
TEST_F(SlowTraceTest, TheRingGrowsAgain) {
  // It holds a call and what led to it, however fast the machine is.
  constexpr uint32_t kRing = 40;
  Start(kRing);
  for (int i = 0; i < 5; ++i) {
    CallMany(kFast, 500'000);
    Enter(kWatched);
    SpinInside();
    Leave(kWatched);
  }
  CallMany(kFast, 500'000);
  uint64_t last = 0, in_ring = 0;
  for (uint64_t i = 0; i < Header().trace_blocks; ++i) {
    const auto* const block =
        reinterpret_cast<const TraceBlock*>(session_->writer().trace() + i * kTraceBlockBytes);
    last = std::max(last, block->first_event + block->events);
    in_ring += block->kept == 0;
  }
  EXPECT_EQ(last, Record().trace_events);
  EXPECT_EQ(in_ring, kRing);
  EXPECT_EQ(Record().trace_dropped, 0u);
  for (const SlowCall& call : Calls()) {
    if ((call.flags & profile::kSlowCut) == 0) ExpectKept(call);
  }
}

TEST_F(SlowTraceTest, SaysThatTheBeginningWasOverwritten) {
  Start(4);
  Enter(kWatched);
  FillInside(6);
  Leave(kWatched);
  ASSERT_EQ(Calls().size(), 1u);
  EXPECT_EQ(Calls()[0].flags, profile::kSlowCut);
  EXPECT_EQ(Header().slow_cut, 1u);
  const std::vector<TraceBlock> blocks = KeptBlocks();
  EXPECT_EQ(blocks.size(), 4u);
  EXPECT_EQ(blocks.back().first_event + blocks.back().events, Calls()[0].last_event + 1);
}

TEST_F(SlowTraceTest, KeepsNoMoreThanItMay) {
  Start(8, 4 * kTraceBlockBytes);
  CallMany(kFast, 50'000);
  for (int i = 0; i < 10; ++i) {
    Enter(kWatched);
    SpinInside();
    Leave(kWatched);
  }
  EXPECT_LE(KeptBlocks().size(), 4u);
  EXPECT_EQ(Calls().size(), 10u);
  const auto not_kept = static_cast<uint64_t>(std::ranges::count_if(
      Calls(), [](const SlowCall& call) { return (call.flags & profile::kSlowNotKept) != 0; }));
  EXPECT_GT(not_kept, 0u);
  EXPECT_EQ(Header().slow_not_kept, not_kept);
}

// A call that was left without an exit is ended by the next watched call that begins where it was.
TEST_F(SlowTraceTest, CountsCallsThatWereLeftWithoutAnExit) {
  Start();
  Enter(kWatched);
  Enter(kOtherWatched);
  SpinInside();
  depth_ = 0;  // both frames are gone
  Call(kWatched);
  EXPECT_EQ(Header().slow_unended, 2u);
  EXPECT_EQ(Counts().unended, 2u);
  EXPECT_EQ(Counts().calls, 3u);
  Enter(kWatched);
  Enter(kOtherWatched);
  --depth_;
  SpinInside();
  Leave(kWatched);  // the inner one ends with it
  EXPECT_EQ(Header().slow_unended, 3u);
  ASSERT_FALSE(Calls().empty());
  EXPECT_EQ(profile::IndexOf(profile::MethodOf(Calls().back().method)),
            profile::IndexOf(profile::MethodOf(Calls().front().method)));
  EXPECT_EQ(Calls().back().item, 0u);
}

// A call of a virtual thread goes on on the same row, wherever the thread is mounted meanwhile.
TEST_F(SlowTraceTest, FollowsVirtualThreads) {
  Start();
  Call(kFast);
  mounted_ = 7;
  Enter(kWatched);
  Call(kFast);
  mounted_ = 9;  // another one is mounted
  CallMany(kFast, 1000);
  mounted_ = 0;
  SpinInside();
  mounted_ = 9;
  CallMany(kFast, 1000);
  mounted_ = 7;
  Call(kFast);
  Leave(kWatched);
  const std::vector<SlowCall> calls = Calls();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].last_event - calls[0].first_event + 1, 6u);
  EXPECT_EQ(calls[0].virtual_thread, 7u);
  const double ticks = session_->clock().ticks_per_second / 1e9;
  EXPECT_GE(static_cast<double>(calls[0].off_cpu_ticks), 0.9 * kSlowNs * ticks);
  ExpectKept(calls[0], false);
}

}  // namespace
}  // namespace jprof::engine
