// Live stacks compared with libgcc's (backtrace()); modules that are mapped and unmapped.
#include "jprof/unwind/unwinder.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/unit/unwind/sample/chain.h"
#include "tests/unit/unwind/walks.h"

#ifdef JPROF_SANITIZED_THREADS
// dlclose frees what dl_iterate_phdr reads, both under a lock of the dynamic linker that
// ThreadSanitizer does not see.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:ld-linux-*.so*\n";
}
#endif

namespace jprof::unwind {
namespace {

using Step = Unwinder::Step;

class UnwinderTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(unwinder_.Refresh().has_value()); }

  void ExpectSame(const Taken& taken, size_t depth) {
    EXPECT_EQ(taken.end, Step::kOutermost);
    EXPECT_EQ(taken.ours, taken.theirs);
    EXPECT_GT(taken.ours.size(), depth);
    EXPECT_FALSE(unwinder_.Stale());
  }

  Unwinder unwinder_;
};

TEST_F(UnwinderTest, ChainsAreBacktraces) {
  for (const auto chain : {sample::ChainO0, sample::ChainO2, sample::ChainOs}) {
    for (const int depth : {0, 1, 2, 3, 4, 5, 6, 7, 100, 5000}) {
      Taken taken(unwinder_);
      chain(depth, TakeBacktrace, &taken);
      ExpectSame(taken, static_cast<size_t>(depth));
    }
  }
}

jmp_buf way_out;

[[noreturn]] __attribute__((noinline)) void VisitAndLeave(Taken& taken) {
  TakeBacktrace(&taken);
  longjmp(way_out, 1);
}

// Its call is its last instruction: the return address is after its end.
__attribute__((noinline)) void EndsWithACall(Taken& taken) {
  [[maybe_unused]] volatile char room[200];
  room[5] = 1;
  VisitAndLeave(taken);
}

TEST_F(UnwinderTest, ReturnAddressBehindTheFunction) {
  Taken taken(unwinder_);
  if (setjmp(way_out) == 0) EndsWithACall(taken);
  ExpectSame(taken, 5);
}

TEST_F(UnwinderTest, OtherThreadsEndToo) {
  std::thread([&] {
    Taken taken(unwinder_);
    sample::ChainO2(30, TakeBacktrace, &taken);
    ExpectSame(taken, 30);
  }).join();
}

// The walk starts inside the handler and continues in the interrupted code.
TEST_F(UnwinderTest, ThroughASignal) {
#if defined(__aarch64__)
  GTEST_SKIP() << "the emulator's trampoline has no unwind information";
#endif
  static Taken* taken;
  Taken mine(unwinder_);
  taken = &mine;
  struct sigaction action = {}, old;
  action.sa_handler = [](int) { TakeBacktrace(taken); };
  ASSERT_EQ(sigaction(SIGUSR2, &action, &old), 0);
  sample::ChainO2(
      20, [](void*) { raise(SIGUSR2); }, nullptr);
  sigaction(SIGUSR2, &old, nullptr);
  ExpectSame(mine, 20);
}

TEST_F(UnwinderTest, NothingIsReadOutsideTheStack) {
  ucontext_t context;
  getcontext(&context);
  const Registers here = OfSignal(&context);
  Registers registers = here;
  EXPECT_EQ(unwinder_.Next(registers, {here.sp - 4096, here.sp}, true), Step::kBad);
  EXPECT_EQ(registers.pc, here.pc);
  registers.pc = 0x1000;
  EXPECT_FALSE(unwinder_.Stale());
  EXPECT_EQ(unwinder_.Next(registers, OwnStack(), true), Step::kUnknown);
  EXPECT_TRUE(unwinder_.Stale());
  ASSERT_TRUE(unwinder_.Refresh().has_value());
  EXPECT_FALSE(unwinder_.Stale());
}

TEST(Unwinder, BeforeTheFirstRefreshNothingIsKnown) {
  Unwinder unwinder;
  Registers registers = {.pc = reinterpret_cast<uint64_t>(&getcontext) + 1, .sp = 64};
  EXPECT_EQ(unwinder.Next(registers, {0, 128}, false), Step::kUnknown);
  Function function;
  EXPECT_FALSE(unwinder.FunctionAt(registers.pc, &function));
}

TEST_F(UnwinderTest, FunctionsOfThisProgram) {
  Function function;
  const auto start = reinterpret_cast<uint64_t>(&sample::ChainO2);
  ASSERT_TRUE(unwinder_.FunctionAt(start + 3, &function));
  EXPECT_EQ(function.start, start);
  EXPECT_NE(function.module.find("test"), std::string_view::npos) << function.module;
  EXPECT_FALSE(unwinder_.FunctionAt(0x10, &function));
  EXPECT_TRUE(function.module.empty());
}

#if defined(UNWIND_PLUGIN)
using CallThrough = int (*)(void (*)(void*), void*);

struct Plugin {
  explicit Plugin(const char* path = UNWIND_PLUGIN) : handle(dlopen(path, RTLD_NOW)) {}

  void* handle;
  CallThrough call = reinterpret_cast<CallThrough>(dlsym(handle, "CallThroughPlugin"));
  uint64_t code = reinterpret_cast<uint64_t>(call);
  ~Plugin() { dlclose(handle); }
};

TEST_F(UnwinderTest, ModulesComeAndGo) {
  uint64_t code = 0;
  Function function;
  {
    const Plugin plugin;
    ASSERT_NE(plugin.call, nullptr) << dlerror();
    code = plugin.code;
    Taken taken(unwinder_);
    plugin.call(TakeBacktrace, &taken);
    EXPECT_EQ(taken.end, Step::kUnknown);
    EXPECT_TRUE(unwinder_.Stale());

    ASSERT_TRUE(unwinder_.Refresh().has_value());
    Taken again(unwinder_);
    plugin.call(TakeBacktrace, &again);
    ExpectSame(again, 5);
    ASSERT_TRUE(unwinder_.FunctionAt(code, &function));
    EXPECT_EQ(function.start, code);
    EXPECT_EQ(function.module, UNWIND_PLUGIN);
  }
  ASSERT_TRUE(unwinder_.Refresh().has_value());
  EXPECT_FALSE(unwinder_.FunctionAt(code, &function));
}

TEST_F(UnwinderTest, NothingNewCostsNothing) {
  const uint64_t bytes = unwinder_.TableBytes();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(unwinder_.Refresh().has_value());
  }
  EXPECT_EQ(unwinder_.TableBytes(), bytes);
}

// Simulates a program that maps and unmaps different plugins for days.
TEST_F(UnwinderTest, ModulesThatAreGoneTakeNoMemory) {
  constexpr int kRounds = 60, kKept = 16;  // tables that may be kept for a while
  const std::string folder = testing::TempDir() + "unwind_plugins_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  const uint64_t before = unwinder_.TableBytes();
  uint64_t one = 0, most = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::string copy = folder + "/plugin" + std::to_string(i) + ".so";
    std::filesystem::copy_file(UNWIND_PLUGIN, copy);
    {
      const Plugin plugin(copy.c_str());
      ASSERT_NE(plugin.call, nullptr) << dlerror();
      ASSERT_TRUE(unwinder_.Refresh().has_value());
      Taken taken(unwinder_);
      plugin.call(TakeBacktrace, &taken);
      ExpectSame(taken, 5);
    }
    ASSERT_TRUE(unwinder_.Refresh().has_value());
    if (i == 0) one = unwinder_.TableBytes() - before;
    most = std::max(most, unwinder_.TableBytes());
  }
  std::filesystem::remove_all(folder);
  EXPECT_GT(one, 0u);
  EXPECT_LT(most, before + kKept * one) << one << " bytes for one";
}

// Results remain valid while a reader uses them, however often modules change.
TEST_F(UnwinderTest, NothingIsFreedWhileItIsRead) {
  Function function;
  uint64_t held = 0;
  {
    const Unwinder::Reading reading(unwinder_);
    for (int i = 0; i < 10; ++i) {
      const Plugin plugin;
      ASSERT_TRUE(unwinder_.Refresh().has_value());
      ASSERT_TRUE(unwinder_.FunctionAt(plugin.code, &function));
    }
    EXPECT_EQ(function.module, UNWIND_PLUGIN);
    held = unwinder_.TableBytes();
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(unwinder_.Refresh().has_value());
  EXPECT_LT(unwinder_.TableBytes(), held);
}

// One thread maps, calls through and unmaps a plugin while another refreshes: each walk ends at the
// outermost frame or at the plugin.
TEST_F(UnwinderTest, RefreshWhileModulesChange) {
  std::atomic<bool> stop = false;
  std::thread refresher([&] {
    while (!stop) {
      EXPECT_TRUE(unwinder_.Refresh().has_value());
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  int whole = 0, cut = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < until) {
    const Plugin plugin;
    for (int i = 0; i < 20; ++i) {
      Taken taken(unwinder_);
      plugin.call(TakeBacktrace, &taken);
      if (taken.end == Step::kOutermost) {
        EXPECT_EQ(taken.ours, taken.theirs);
        ++whole;
      } else {
        EXPECT_EQ(taken.end, Step::kUnknown);
        ++cut;
      }
    }
  }
  stop = true;
  refresher.join();
  std::printf("%d walks through the plugin whole, %d cut off before a refresh\n", whole, cut);
  EXPECT_GT(whole, 0);
}
#endif

void TimeSteps(void* data) {
  const auto& unwinder = *static_cast<const Unwinder*>(data);
  ucontext_t context;
  getcontext(&context);
  const StackBounds stack = OwnStack();
  std::vector<uint64_t> pcs(4096);
  size_t depth = 0;
  const auto begin = std::chrono::steady_clock::now();
  constexpr int kWalks = 500;
  for (int i = 0; i < kWalks; ++i)
    Walk(unwinder, OfSignal(&context), stack, pcs.data(), pcs.size(), depth);
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  std::printf("%.0f ns per step over %zu frames\n",
              time.count() / static_cast<double>(kWalks * depth), depth);
}

TEST_F(UnwinderTest, PrintsCost) { sample::ChainO2(1000, TimeSteps, &unwinder_); }

}  // namespace
}  // namespace jprof::unwind
