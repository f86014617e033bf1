// Stacks at random places of libc, at a timer's signal, compared with libunwind's.
#define UNW_LOCAL_ONLY
#include <gtest/gtest.h>
#include <libunwind.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/unit/unwind/sample/chain.h"
#include "tests/unit/unwind/walks.h"

namespace jprof::unwind {
namespace {

using Step = Unwinder::Step;
constexpr size_t kRoom = 64;

struct Sample {
  uint64_t ours[kRoom], theirs[kRoom], through[kRoom];
  size_t depth, their_depth, through_depth;
  Step end, through_end;
};

size_t LibunwindWalk(unw_context_t* context, int flags, uint64_t* out, size_t room) {
  unw_cursor_t cursor;
  if (unw_init_local2(&cursor, context, flags) != 0) return 0;
  size_t depth = 0;
  do {
    unw_word_t pc = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &pc);
    if (pc == 0) break;
    out[depth++] = pc;
  } while (depth < room && unw_step(&cursor) > 0);
  return depth;
}

void TakeLibunwind(void* data) {
  Taken& taken = *static_cast<Taken*>(data);
  taken.ours.resize(Taken::kRoom);
  taken.theirs.resize(Taken::kRoom);
  unw_context_t context;
  unw_getcontext(&context);
  size_t depth = 0;
  taken.end = Walk(taken.unwinder, OfSignal(&context), taken.stack, taken.ours.data(),
                   taken.ours.size(), depth);
  taken.ours.resize(depth);
  taken.theirs.resize(LibunwindWalk(&context, 0, taken.theirs.data(), taken.theirs.size()));
}

TEST(Libunwind, AgreesAboutChains) {
  Unwinder unwinder;
  ASSERT_TRUE(unwinder.Refresh().has_value());
  for (const auto chain : {sample::ChainO0, sample::ChainO2, sample::ChainOs}) {
    Taken taken(unwinder);
    chain(200, TakeLibunwind, &taken);
    EXPECT_EQ(taken.end, Step::kOutermost);
    EXPECT_EQ(taken.ours, taken.theirs);
    EXPECT_GT(taken.ours.size(), 200u);
  }
}

constexpr size_t kMaxSamples = 4000;
Sample* samples;
volatile size_t sample_count;
const Unwinder* sampled_by;
StackBounds sampled_stack;

void OnTick(int, siginfo_t*, void* context) {
  if (sample_count >= kMaxSamples) return;
  Sample& sample = samples[sample_count];
  sample.end =
      Walk(*sampled_by, OfSignal(context), sampled_stack, sample.ours, kRoom, sample.depth);
  sample.their_depth = LibunwindWalk(static_cast<unw_context_t*>(context), UNW_INIT_SIGNAL_FRAME,
                                     sample.theirs, kRoom);
  ucontext_t here;
  getcontext(&here);
  sample.through_end = Walk(*sampled_by, OfSignal(&here), sampled_stack, sample.through, kRoom,
                            sample.through_depth);
  sample_count = sample_count + 1;
}

__attribute__((noinline)) size_t Work(int round) {
  static char from[1 << 16], to[1 << 16], text[256];
  memset(from, 'a' + round % 20, sizeof from - 1);
  memcpy(to, from, sizeof to);
  size_t sum = strlen(to);
  void* blocks[64];
  for (size_t i = 0; i < 64; ++i) blocks[i] = malloc(i * 37 + 1);
  for (void* block : blocks) free(block);
  sum += static_cast<size_t>(snprintf(text, sizeof text, "%d %s %.3f", round, "text", round / 3.0));
  int numbers[64];
  for (int i = 0; i < 64; ++i) numbers[i] = (i * 7919 + round) % 101;
  qsort(numbers, 64, sizeof *numbers, [](const void* a, const void* b) {
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  return sum + static_cast<size_t>(numbers[3]) + static_cast<size_t>(text[1]);
}

// Works until `count` samples have been taken. On a loaded machine that takes a while; after a
// minute it gives up.
void SampleWork(const Unwinder& unwinder, size_t count) {
  sampled_by = &unwinder;
  sampled_stack = OwnStack();
  samples = new Sample[kMaxSamples]();
  sample_count = 0;
  struct sigaction action = {}, old;
  action.sa_sigaction = OnTick;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGALRM, &action, &old);
  const itimerval kilohertz = {{0, 997}, {0, 997}}, never = {};
  setitimer(ITIMER_REAL, &kilohertz, nullptr);
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  size_t sum = 0;
  for (int round = 0; sample_count < count && std::chrono::steady_clock::now() < until; ++round)
    sum += Work(round);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &old, nullptr);
  EXPECT_NE(sum, 0u);
}

std::string Frames(const Unwinder& unwinder, const uint64_t* pcs, size_t depth) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(depth, 8); ++i) {
    Function function;
    unwinder.FunctionAt(pcs[i], &function);
    text += fmt::format(" {}+{:x}", function.module.substr(function.module.rfind('/') + 1),
                        pcs[i] - function.start + function.link_address);
  }
  return text;
}

bool EndsWith(const uint64_t* longer, size_t longer_depth, const uint64_t* shorter, size_t depth) {
  return depth <= longer_depth &&
         std::equal(shorter, shorter + depth, longer + (longer_depth - depth));
}

TEST(Libunwind, AgreesWhereSignalsInterrupt) {
#ifdef JPROF_SANITIZED_THREADS
  GTEST_SKIP() << "the thread sanitizer delivers signals late: the stack is another one by then";
#elif defined(__aarch64__)
  GTEST_SKIP() << "the emulator's trampoline has no unwind information";
#endif
  Unwinder unwinder;
  ASSERT_TRUE(unwinder.Refresh().has_value());
  SampleWork(unwinder, 1000);
  size_t same = 0, whole = 0, through = 0;
  std::set<uint64_t> interrupted;  // functions
  for (size_t i = 0; i < sample_count; ++i) {
    const Sample& sample = samples[i];
    const bool equal = EndsWith(sample.theirs, sample.their_depth, sample.ours, sample.depth) &&
                       sample.depth == sample.their_depth;
    same += equal;
    Function function;
    if (unwinder.FunctionAt(sample.ours[0], &function)) interrupted.insert(function.start);
    whole += sample.end == Step::kOutermost;
    through += sample.through_end == sample.end &&
               EndsWith(sample.through, sample.through_depth, sample.ours, sample.depth) &&
               sample.through_depth == sample.depth + 2;  // the handler and the trampoline
    if (!equal || sample.end != Step::kOutermost) {
      std::printf("ours (%d):%s\n  libunwind:%s\n", static_cast<int>(sample.end),
                  Frames(unwinder, sample.ours, sample.depth).c_str(),
                  Frames(unwinder, sample.theirs, sample.their_depth).c_str());
    }
  }
  const size_t count = sample_count;
  std::printf(
      "%zu samples: %zu whole, %zu as libunwind's, %zu the same through the signal's frame; %zu "
      "functions\n",
      count, whole, same, through, interrupted.size());
  EXPECT_GT(interrupted.size(), 10u);
  EXPECT_GE(count, 1000u);
  EXPECT_GE(whole * 1000, count * 998);
  EXPECT_GE(same * 100, count * 99);
  EXPECT_EQ(through, count);
  delete[] samples;
}

}  // namespace
}  // namespace jprof::unwind
