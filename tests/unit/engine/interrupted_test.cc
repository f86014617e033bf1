// A signal at every instruction of the engine's own code: the processor's trap flag is set, and the
// handler of some of the traps has events of functions, as a handler with hooks has. Every event is
// recorded or counted as dropped, and nothing waits for a lock that the interrupted code holds.
#if defined(__x86_64__) && !defined(JPROF_SANITIZED)

#include <errno.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "jprof/engine/events.h"
#include "jprof/engine/function_events.h"
#include "jprof/engine/session.h"

// Whether the thread has blocked its signals: no handler runs then.
static thread_local volatile bool blocked;

// In place of the C library's: a trap while its signal is blocked would end the process. Notes in
// `blocked` whether all signals are blocked.
extern "C" int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  sigset_t without_trap = {};
  if (set != nullptr) without_trap = *set;
  sigdelset(&without_trap, SIGTRAP);
  if (how == SIG_SETMASK && set != nullptr && sigismember(set, SIGUSR1) == 0) blocked = false;
  const size_t bytes = NSIG / 8;
  const long result =
      syscall(SYS_rt_sigprocmask, how, set != nullptr ? &without_trap : nullptr, before, bytes);
  if (how == SIG_SETMASK && set != nullptr && sigismember(set, SIGUSR1) == 1) blocked = true;
  return result == 0 ? 0 : errno;
}

namespace jprof::engine::interrupted_test {
namespace {

constexpr uint64_t kHandle = 0x7f0000001000;
constexpr long kOnce = LONG_MAX / 2, kOften = 100;  // instructions
constexpr unsigned kLongest = 1200;  // seconds; a test that takes longer waits for a lock

class Names : public MethodSource {
 public:
  bool Describe(uint64_t method, MethodText* text) override {
    const uint64_t number = (method & ~kFunctionBit) - kHandle;
    text->scratch[0] = (method & kFunctionBit) != 0 ? 'f' : 'm';
    for (int i = 1; i <= 6; ++i) text->scratch[i] = static_cast<char>('0' + (number >> 3 * i) % 8);
    text->name = {text->scratch, 7};
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kInterpreted; }
};

void (*in_handler)() = nullptr;
volatile long step, interrupt_at, interrupt_every;

void OnTrap(int, siginfo_t*, void*) {
  step = step + 1;
  if (step < interrupt_at || blocked) return;
  interrupt_at = step + interrupt_every;
  in_handler();
}

// Below the red zone.
[[gnu::always_inline]] inline void BeginTraps() {
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}
[[gnu::always_inline]] inline void EndTraps() {
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), "
      "%%rsp" ::
          : "memory", "cc");
}

Event FunctionAt(uint64_t number, uint64_t sp) {
  return {(kHandle + 16 * number) | kFunctionBit, sp, 0, 0, 0};
}
Event MethodAt(uint64_t number, uint64_t sp) { return {kHandle + 16 * number, sp, 1, 0, 0}; }

constexpr uint64_t kHandlerSp = 100'000, kProgramSp = 1'000'000;
uint64_t handled, next_function;

// Two calls: of a function that is known and of one that is not.
template <class R>
void Calls() {
  for (const uint64_t function : {uint64_t{1}, ++next_function}) {
    ++handled;
    Enter<R, FunctionFrames>(FunctionAt(function, kHandlerSp));
    Leave<R, FunctionFrames>(FunctionAt(function, kHandlerSp));
  }
}

class InterruptedTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-interrupted-XXXXXX";
    directory_ = mkdtemp(name);
    struct sigaction action = {};
    action.sa_sigaction = OnTrap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGTRAP, &action, nullptr);
    handled = 0;
    next_function = 100;
    alarm(kLongest);
  }
  void TearDown() override {
    alarm(0);
    signal(SIGTRAP, SIG_DFL);
    ThreadRegistry::Detach();
    std::filesystem::remove_all(directory_);
  }
  template <class R>
  void Start() {
    SessionOptions options;
    options.clock = R::kClock;
    options.files.trace = R::kTrace;
    options.files.directory = directory_ + "/p";
    session_.SetFunctions(&names_);
    ASSERT_TRUE(session_.Start(std::move(options), &names_));
    in_handler = Calls<R>;
  }

  // Calls prepare() and then action(), until each instruction of action() has been interrupted. One
  // call is interrupted at each `every`th instruction: once, if it has not as many.
  template <class Prepare, class Action>
  void AtEveryStep(long every, Prepare prepare, Action action) {
    for (long at = 1; at <= every; ++at) {
      prepare();
      step = 0;
      interrupt_at = at;
      interrupt_every = every;
      BeginTraps();
      action();
      EndTraps();
      if (step < at) break;
    }
  }

  struct Sums {
    uint64_t entries = 0, exits = 0;
  };
  // Of functions, or of methods.
  Sums SumOf(FrameKind type) {
    Sums sums;
    for (uint64_t i = 1; i < session_.writer().header()->node_count; ++i) {
      const profile::Node& node = session_.writer().nodes()[i];
      if (node.ref == profile::kNoMethodRef || profile::TypeOf(node.ref) != type) continue;
      sums.entries += uint64_t{node.entries[0]} + node.entries[1];
      sums.exits += uint64_t{node.exits[0]} + node.exits[1];
    }
    return sums;
  }

  std::string directory_;
  Names names_;
  Session session_;
};

void Nothing() {}

// All types of functions and methods are kInterpreted here: the sums are of both.
template <class Test>
void ExpectAllCalls(Test& test, uint64_t methods) {
  const auto sums = test.SumOf(FrameKind::kInterpreted);
  const profile::ThreadRecord& record = *current_thread->record;
  EXPECT_EQ(2 * (handled + methods), sums.entries + sums.exits + record.dropped);
  EXPECT_EQ(sums.entries, sums.exits);
  EXPECT_EQ(record.healed + record.unmatched, 0u);
  EXPECT_EQ(test.session_.writer().header()->lost_events, 0u);
  EXPECT_GT(sums.entries, methods);
}

class InterruptedTreeTest : public InterruptedTest {
 public:
  using InterruptedTest::session_;
  using InterruptedTest::SumOf;

 protected:
  // Calls event_of(1), event_of(2) and so on, all but the first interrupted.
  template <class R, class Frames, class EventOf>
  void CallOften(long every, EventOf event_of) {
    Start<R>();
    uint64_t calls = 0;
    const auto call = [&] {
      const Event event = event_of(++calls);
      Enter<R, Frames>(event);
      Leave<R, Frames>(event);
    };
    call();
    AtEveryStep(every, Nothing, call);
    ExpectAllCalls(*this, calls);
  }
};

TEST_F(InterruptedTreeTest, AKnownJavaMethod) {
  CallOften<CountTree, JavaFramesBesideHooks>(kOnce,
                                              [](uint64_t) { return MethodAt(1, kProgramSp); });
}

TEST_F(InterruptedTreeTest, AKnownFunction) {
  CallOften<TimeTree, FunctionFrames>(kOnce, [](uint64_t) { return FunctionAt(2, kProgramSp); });
}

TEST_F(InterruptedTreeTest, AJavaMethodThatIsSeenFirst) {
  CallOften<CountTree, JavaFramesBesideHooks>(
      kOften, [](uint64_t call) { return MethodAt(call, kProgramSp); });
}

// The exit of a call that a handler makes must not end the frame of the interrupted code.
TEST_F(InterruptedTreeTest, AFunctionThatTheHandlerCallsToo) {
  Start<CountTree>();
  uint64_t calls = 0;
  in_handler = [] {
    ++handled;
    Enter<CountTree, FunctionFrames>(FunctionAt(next_function, kHandlerSp));
    Leave<CountTree, FunctionFrames>(FunctionAt(next_function, kHandlerSp));
  };
  const auto call = [&] {
    calls += 2;
    Enter<CountTree, FunctionFrames>(FunctionAt(++next_function, kProgramSp));
    Enter<CountTree, FunctionFrames>(FunctionAt(next_function + 100'000, kProgramSp - 100));
    Leave<CountTree, FunctionFrames>(FunctionAt(next_function + 100'000, kProgramSp - 100));
    Leave<CountTree, FunctionFrames>(FunctionAt(next_function, kProgramSp));
  };
  call();
  AtEveryStep(kOften, Nothing, call);
  ExpectAllCalls(*this, calls);
}

// The first handler makes the thread's state, after the interrupted event has found none.
TEST_F(InterruptedTest, TheFirstEventOfAThread) {
  Start<CountTree>();
  uint64_t calls = 0;
  for (const long every : {1L, kOften}) {
    const auto call = [&] {
      const Event event = FunctionAt(1'000'000 + ++calls, kProgramSp);
      Enter<CountTree, FunctionFrames>(event);
      Leave<CountTree, FunctionFrames>(event);
    };
    for (long at = 1; at <= 60; ++at) {
      ThreadRegistry::Detach();
      step = 0;
      interrupt_at = at;
      interrupt_every = every;
      BeginTraps();
      call();
      EndTraps();
    }
  }
  const Sums sums = SumOf(FrameKind::kInterpreted);
  const profile::ControlHeader& header = *session_.writer().header();
  uint64_t dropped = header.lost_events, unmatched = 0, healed = 0;
  for (uint32_t i = 0; i < header.thread_count; ++i) {
    const profile::ThreadRecord& record = *session_.writer().ThreadAt(i);
    dropped += record.dropped;
    unmatched += record.unmatched;
    healed += record.healed;
  }
  EXPECT_EQ(unmatched, 0u);
  EXPECT_EQ(healed, 0u);
  EXPECT_EQ(2 * (handled + calls), sums.entries + sums.exits + dropped);
}

// A handler that ends the process ends its recording, which takes the locks. Before, it waited for
// the code that it had interrupted.
Session* held_session;
TraceDrain* held_drain;
TEST_F(InterruptedTest, LocksAreNotHeldWhereAHandlerRuns) {
  Start<CountTree>();
  TraceDrain drain;
  ASSERT_TRUE(drain.Start(&session_.writer(), {}));
  held_session = &session_;
  held_drain = &drain;
  alarm(kLongest / 10);
  in_handler = [] {
    ++handled;
    held_session->threads().ForEach([](Thread&) {});
    held_session->methods().SetFilter(nullptr);
    held_drain->TakeFree();
  };
  AtEveryStep(kOften, Nothing, [&] { session_.threads().ForEach([](Thread&) {}); });
  AtEveryStep(kOften, Nothing, [&] { session_.methods().SetFilter(nullptr); });
  AtEveryStep(kOften, Nothing, [&] { drain.TakeFree(); });
  AtEveryStep(
      kOften, [] { ThreadRegistry::Detach(); }, [&] { session_.threads().CurrentThread(); });
  EXPECT_GT(handled, 100u);
}

// The handler uses a session that has no functions itself, beside one that has.
Thread* switched_thread;
TEST_F(InterruptedTest, LocksOfASessionWithoutFunctionsAreNotHeldEither) {
  Start<CountTree>();
  Session session;
  SessionOptions options;
  options.clock = false;
  options.files.directory = directory_ + "/without";
  ASSERT_TRUE(session.Start(std::move(options), &names_));
  Thread* const thread = session.threads().ThreadOf(static_cast<uint32_t>(gettid()));
  switched_thread = session.threads().ThreadOf(static_cast<uint32_t>(gettid()));
  ASSERT_TRUE(thread != nullptr && switched_thread != nullptr);
  held_session = &session;
  alarm(kLongest / 10);
  const auto mount = [&] { session.timelines().SwitchToVirtualThread(*thread, 1); };
  const auto unmount = [&] { session.timelines().SwitchToVirtualThread(*thread, 0); };
  in_handler = [] {
    ++handled;
    held_session->timelines().SwitchToVirtualThread(*switched_thread,
                                                    switched_thread->continuation == 0 ? 2 : 0);
  };
  mount();  // both virtual threads get their timelines before they are interrupted
  in_handler();
  unmount();
  in_handler();
  AtEveryStep(kOften, mount, unmount);
  AtEveryStep(kOften, unmount, mount);
  EXPECT_GT(handled, 100u);
  session.Finish();
  session.Close();
}

// Session::Close in another thread, at each of the first instructions of ThreadRegistry::Detach.
// They are those before Detach has the lock; later, Close waits for the thread that detaches.
std::atomic<bool> close_now, closed;
TEST_F(InterruptedTest, CloseWhileAThreadDetaches) {
  in_handler = [] {
    ++handled;
    close_now = true;
    for (int i = 0; i < 50 && !closed; ++i) usleep(1000);
  };
  for (long at = 1; at <= 40; ++at) {
    Session session;
    SessionOptions options;
    options.files.directory = directory_ + "/" + std::to_string(at);
    session.SetFunctions(&names_);
    ASSERT_TRUE(session.Start(std::move(options), &names_));
    ASSERT_NE(session.threads().CurrentThread(), nullptr);
    session.Finish();
    close_now = closed = false;
    std::thread other([&] {
      while (!close_now) usleep(100);
      session.Close();
      closed = true;
    });
    step = 0;
    interrupt_at = at;
    interrupt_every = kOnce - at;
    BeginTraps();
    ThreadRegistry::Detach();
    EndTraps();
    close_now = true;
    other.join();
  }
  EXPECT_EQ(handled, 40u);
}

// The frames of a virtual thread do not move while an interrupted event is at their end.
TEST_F(InterruptedTest, TheFramesOfAVirtualThreadStay) {
  Start<CountTree>();
  Thread* const thread = session_.threads().CurrentThread();
  session_.timelines().SwitchToVirtualThread(*thread, 1);
  const Frame* const frames = thread->timeline.frames;
  for (uint64_t i = 0; i < 20'000; ++i)
    Enter<CountTree, FunctionFrames>(FunctionAt(1, kProgramSp - 32 * i));
  EXPECT_EQ(thread->timeline.frames, frames);
  EXPECT_EQ(thread->cursor.top - frames, 20'001);
}

TEST_F(InterruptedTest, TheStateOfAThread) {
  Start<CountTree>();
  const auto prepare = [] { ThreadRegistry::Detach(); };
  AtEveryStep(kOften, prepare, [&] { session_.threads().CurrentThread(); });
  AtEveryStep(
      kOften, [&] { session_.threads().CurrentThread(); }, [] { ThreadRegistry::Detach(); });
  AtEveryStep(kOften, prepare, [&] { session_.threads().ForgetMethods(); });
  AtEveryStep(kOften, prepare, [&] { session_.threads().ForEach([](Thread&) {}); });
  EXPECT_GT(handled, 100u);
}

// The events of the trace's blocks, decoded: as many as their heads say, and time does not fall,
// except where two clocks differ, after the thread was dispatched.
TEST_F(InterruptedTest, ATrace) {
  Start<TimeTrace>();
  uint64_t calls = 0;
  const auto call = [&] {
    ++calls;
    Enter<TimeTrace, FunctionFrames>(FunctionAt(2, kProgramSp));
    Leave<TimeTrace, FunctionFrames>(FunctionAt(2, kProgramSp));
  };
  call();
  for (int block = 0; block < 2; ++block) {
    while (current_thread->cursor.trace_end - current_thread->cursor.trace_next > 400) call();
    AtEveryStep(kOnce, Nothing, call);  // over the end of the block
  }
  const profile::ThreadRecord& record = *current_thread->record;
  uint64_t events = 0, below_zero = 0;
  for (uint64_t i = 0; i < session_.writer().header()->trace_blocks; ++i) {
    const char* const at = session_.writer().trace() + i * profile::kTraceBlockBytes;
    const auto* block = reinterpret_cast<const profile::TraceBlock*>(at);
    const auto* next = reinterpret_cast<const uint8_t*>(block + 1);
    const uint8_t* const end = next + block->bytes;
    ASSERT_LE(reinterpret_cast<const char*>(end), at + profile::kTraceBlockBytes);
    uint32_t in_block = 0;
    const auto varint = [&] {
      uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        value |= uint64_t{*next & 0x7fu} << shift;
        if (*next++ < 0x80) return value;
      }
    };
    for (; next < end; ++in_block) {
      const uint64_t head = varint();
      ASSERT_LT(head >> 5, session_.writer().header()->method_count + 1);
      below_zero += varint() & 1;
    }
    EXPECT_EQ(next, end);
    EXPECT_EQ(in_block, block->events);
    events += in_block;
  }
  EXPECT_EQ(record.trace_events, events);
  EXPECT_LE(below_zero, record.dispatches);
  EXPECT_EQ(2 * (handled + calls), events + record.dropped + record.trace_dropped);
  EXPECT_GT(session_.writer().header()->trace_blocks, 1u);
}

// The handler fills the block and begins another one, into which the interrupted event goes.
TEST_F(InterruptedTest, ATraceWhoseBlockTheHandlerFills) {
  Start<TimeTrace>();
  const auto call = [] {
    Enter<TimeTrace, FunctionFrames>(FunctionAt(2, kProgramSp));
    Leave<TimeTrace, FunctionFrames>(FunctionAt(2, kProgramSp));
  };
  call();
  in_handler = [] {
    const profile::TraceBlock* const full = current_thread->timeline.block;
    for (int i = 0; i < 20'000 && current_thread->timeline.block == full; ++i) {
      Enter<TimeTrace, FunctionFrames>(FunctionAt(1, kHandlerSp));
      Leave<TimeTrace, FunctionFrames>(FunctionAt(1, kHandlerSp));
    }
  };
  const uint64_t& blocks = session_.writer().header()->trace_blocks;
  uint64_t before = blocks;
  const auto check = [&] {
    const auto* const block = reinterpret_cast<const uint8_t*>(current_thread->timeline.block);
    EXPECT_EQ(current_thread->cursor.trace_end, block + profile::kTraceBlockBytes);
    EXPECT_LE(blocks, before + 1);
    before = blocks;
  };
  AtEveryStep(kOnce, check, call);
  check();
  EXPECT_GT(blocks, 10u);
}

}  // namespace
}  // namespace jprof::engine::interrupted_test

#endif
