#include "itrace/tracer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <thread>

#include "common/procfs.h"
#include "itrace/engine_check.h"
#include "tests/unit/itrace/traced_code.h"

namespace jprof::itrace {
namespace {

#if defined(__x86_64__)

#define NOINLINE __attribute__((noinline))

NOINLINE long Sum(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) sum += (i & 3) != 0 ? i * 3 : -i;
  return sum;
}
NOINLINE long Fib(long n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }

struct Shape {
  virtual ~Shape() = default;
  virtual long Area(long n) const = 0;
};
struct Square : Shape {
  NOINLINE long Area(long n) const override { return n * n; }
};
struct Line : Shape {
  NOINLINE long Area(long n) const override { return Sum(n & 7); }
};

int Loops() {
  itrace_test_begin();
  const long result = Sum(200) + Fib(8);
  itrace_test_end();
  return result == Sum(200) + 21 ? 0 : 1;
}

int VirtualCalls() {
  const Square square;
  const Line line;
  const Shape* shapes[] = {&square, &line, &square};
  long sum = 0;
  itrace_test_begin();
  for (long i = 0; i < 60; ++i) sum += shapes[i % 3]->Area(i);
  itrace_test_end();
  return sum > 0 ? 0 : 1;
}

int RepeatedInstructions() {
  char from[300], to[300] = {};
  std::memset(from, 7, sizeof(from));
  itrace_test_begin();
  for (long size = 0; size < 300; size += 100) {
    long count = size;
    const char* source = from;
    char* target = to;
    asm volatile("rep movsb" : "+c"(count), "+S"(source), "+D"(target) : : "memory");
    count = size;
    target = to;
    asm volatile("repe scasb" : "+c"(count), "+D"(target) : "a"(7) : "memory", "cc");
  }
  itrace_test_end();
  return to[199] == 7 && to[200] == 0 ? 0 : 1;
}

// jrcxz, loop, ret imm16, call and jmp through memory, flags across branches, pushf.
int OddBranches() {
  long a = 0, b = 0, c = 0;
  itrace_test_begin();
  asm volatile(R"(
    mov $5, %%rcx
  1: inc %0
    loop 1b
    jrcxz 2f
    ud2
  2: mov $3, %%rcx
    jrcxz 2b
    lea -128(%%rsp), %%rsp
    push %%rcx
    call 4f
    lea 5f(%%rip), %%rdx
    push %%rdx
    call *(%%rsp)
    lea 8(%%rsp), %%rsp
    lea 6f(%%rip), %%rdx
    push %%rdx
    jmp *(%%rsp)
  4: add $1, %1
    ret $8
  5: add $10, %1
    ret
  6: lea 8(%%rsp), %%rsp
    stc
    call 7f
    adc $100, %1
    pushf
    pop %2
    jmp 8f
  7: ret
  8: lea 128(%%rsp), %%rsp
  )"
               : "+r"(a), "+r"(b), "=r"(c)
               :
               : "rcx", "rdx", "memory", "cc");
  itrace_test_end();
  return a == 5 && b == 112 && (c & 0x100) == 0 ? 0 : 1;
}

int Exceptions() {
  int caught = 0;
  itrace_test_begin();
  for (int i = 0; i < 3; ++i) {
    try {
      if (Sum(i + 5) != 0) throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  itrace_test_end();
  return caught == 3 ? 0 : 1;
}

volatile sig_atomic_t handled = 0;
void Count(int) { handled = handled + 1; }
void CountNested(int) {
  handled = handled + 1;
  raise(SIGUSR2);
}

int Signals() {
  signal(SIGUSR1, CountNested);
  struct sigaction action = {};
  action.sa_handler = Count;
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR2, &action, nullptr);
  itrace_test_begin();
  for (int i = 0; i < 3; ++i) raise(SIGUSR1);
  itrace_test_end();
  return handled == 6 ? 0 : 1;
}

// As HotSpot does: the handler of a fault continues elsewhere.
void SkipFault(int, siginfo_t* info, void* context) {
  auto* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (info->si_addr != reinterpret_cast<void*>(0x10)) _exit(5);
  registers[REG_RIP] += 3;  // mov (%rax), %rax
  registers[REG_RAX] = 77;
  handled = handled + 1;
}

int Faults() {
  struct sigaction action = {};
  action.sa_sigaction = SkipFault;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);
  sigaction(SIGSEGV, &action, nullptr);
  long value = 0;
  itrace_test_begin();
  for (int i = 0; i < 3; ++i) {
    value = 0x10;
    asm volatile("mov (%%rax), %%rax" : "+a"(value));
  }
  itrace_test_end();
  return value == 77 && handled == 3 ? 0 : 1;
}

// The address of an instruction that is not one, in the signal and in the frame.
void SkipIllegal(int, siginfo_t* info, void* context) {
  auto* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (info->si_addr != reinterpret_cast<void*>(registers[REG_RIP])) _exit(5);
  const auto* code = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
  if (code[0] != 0x0f || code[1] != 0x0b) _exit(6);
  registers[REG_RIP] += 2;
  handled = handled + 1;
}
int IllegalInstructions() {
  struct sigaction action = {};
  action.sa_sigaction = SkipIllegal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
  itrace_test_begin();
  for (int i = 0; i < 2; ++i) asm volatile("ud2");
  itrace_test_end();
  return handled == 2 ? 0 : 1;
}

sigjmp_buf jump_target;
void JumpOut(int) { siglongjmp(jump_target, 1); }
int JumpsOutOfHandlers() {
  signal(SIGSEGV, JumpOut);
  volatile int jumped = 0, rounds = 0;
  itrace_test_begin();
  while (rounds < 3) {
    rounds = rounds + 1;
    if (sigsetjmp(jump_target, 1) == 0) {
      *reinterpret_cast<volatile int*>(0x20) = 1;
    } else {
      jumped = jumped + 1;
    }
  }
  itrace_test_end();
  return jumped == 3 ? 0 : 1;
}

int Children() {
  volatile int good = 0;
  itrace_test_begin();
  for (int i = 0; i < 2; ++i) {
    const pid_t child = i == 0 ? fork() : vfork();
    if (child == 0) _exit(7);
    int status = 0;
    if (waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7) good = good + 1;
  }
  pid_t spawned = 0;
  char name[] = "/bin/true";
  char* arguments[] = {name, nullptr};
  int status = 1;
  const bool ran = posix_spawn(&spawned, name, nullptr, nullptr, arguments, nullptr) == 0 &&
                   waitpid(spawned, &status, 0) == spawned && status == 0;
  if (ran) good = good + 1;
  itrace_test_end();
  return good == 3 ? 0 : 1;
}

int Threads() {
  long result = 0;
  itrace_test_begin();
  std::thread other([&result] { result = Sum(5000); });
  other.join();
  itrace_test_end();
  return result == Sum(5000) ? 0 : 1;
}

// Code that is rewritten between its executions: mov $n, %eax; ret.
int ChangedCode(bool protect) {
  auto* const code = static_cast<uint8_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  int sum = 0;
  itrace_test_begin();
  for (int i = 0; i < 5; ++i) {
    if (protect) mprotect(code, 4096, PROT_READ | PROT_WRITE);
    const uint8_t bytes[] = {0xb8, static_cast<uint8_t>(i), 0, 0, 0, 0xc3};
    for (size_t k = 0; k < sizeof(bytes); ++k) const_cast<volatile uint8_t*>(code)[k] = bytes[k];
    if (protect) mprotect(code, 4096, PROT_READ | PROT_EXEC);
    for (int k = 0; k < 3; ++k) sum += reinterpret_cast<int (*)()>(code)();
  }
  itrace_test_end();
  return sum == 30 ? 0 : 1;
}
int ChangesCode() { return ChangedCode(false); }
int ChangesProtectedCode() { return ChangedCode(true); }

// A program that blocks the signals that tracing uses sees its own mask, and its handlers stay.
int BlocksAllSignals() {
  signal(SIGTRAP, Count);
  signal(SIGSEGV, Count);
  sigset_t all, before, seen;
  sigfillset(&all);
  itrace_test_begin();
  sigprocmask(SIG_BLOCK, &all, &before);
  const long sum = Sum(50);
  sigprocmask(SIG_BLOCK, nullptr, &seen);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  itrace_test_end();
  struct sigaction trap, fault;
  sigaction(SIGTRAP, nullptr, &trap);
  sigaction(SIGSEGV, nullptr, &fault);
  const bool masks = sigismember(&seen, SIGTRAP) == 1 && sigismember(&seen, SIGSEGV) == 1 &&
                     sigismember(&before, SIGTRAP) == 0;
  return masks && trap.sa_handler == Count && fault.sa_handler == Count && sum != 0 ? 0 : 1;
}

struct Case {
  const char* name;
  int (*code)();
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
class EnginesTest : public testing::TestWithParam<Case> {};

TEST_P(EnginesTest, RecordTheSame) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "what the sanitizers' runtime executes differs from run to run";
#endif
  const Traced block = Trace({.engine = Engine::kBlock, .not_taken = true}, GetParam().code);
  EXPECT_EQ(block.status, 0);
  EXPECT_EQ(block.notes, std::vector<std::string>());
  const Traced step = Trace({.engine = Engine::kStep, .not_taken = true}, GetParam().code);
  EXPECT_EQ(step.status, 0);
  EXPECT_EQ(block.instructions, step.instructions);
  EXPECT_EQ(block.repeats, step.repeats);
  const auto blocks = Comparable(block.branches), steps = Comparable(step.branches);
  for (size_t i = 0; i < std::min(blocks.size(), steps.size()); ++i) {
    ASSERT_EQ(blocks[i], steps[i])
        << i << std::hex << ": " << int(blocks[i].kind) << " " << blocks[i].from << " "
        << blocks[i].to << " " << blocks[i].instructions << ", step: " << int(steps[i].kind) << " "
        << steps[i].from << " " << steps[i].to << " " << steps[i].instructions;
  }
  EXPECT_EQ(blocks.size(), steps.size());
  const Traced block_memory =
      Trace({.engine = Engine::kBlock, .records = false, .memory = true}, GetParam().code);
  const Traced step_memory =
      Trace({.engine = Engine::kStep, .records = false, .memory = true}, GetParam().code);
  ExpectEqual(Comparable(block_memory.references), Comparable(step_memory.references));
  EXPECT_EQ(block_memory.instructions, step.instructions);
  EXPECT_EQ(block_memory.repeats, step.repeats);
  const Traced both = Trace({.memory = true, .not_taken = true}, GetParam().code);
  ExpectEqual(Comparable(both.references), Comparable(step_memory.references));
  EXPECT_EQ(Comparable(both.branches), steps);
  const Traced counted = Trace({.engine = Engine::kBlock, .records = false}, GetParam().code);
  EXPECT_EQ(counted.status, 0);
  EXPECT_EQ(counted.instructions, step.instructions);
  EXPECT_EQ(counted.repeats, step.repeats);
}

INSTANTIATE_TEST_SUITE_P(Code, EnginesTest,
                         testing::Values(Case{"Loops", Loops}, Case{"VirtualCalls", VirtualCalls},
                                         Case{"RepeatedInstructions", RepeatedInstructions},
                                         Case{"OddBranches", OddBranches},
                                         Case{"Exceptions", Exceptions}, Case{"Signals", Signals},
                                         Case{"Faults", Faults},
                                         Case{"IllegalInstructions", IllegalInstructions},
                                         Case{"JumpsOutOfHandlers", JumpsOutOfHandlers},
                                         Case{"ChangesCode", ChangesCode},
                                         Case{"ChangesProtectedCode", ChangesProtectedCode},
                                         Case{"BlocksAllSignals", BlocksAllSignals}),
                         [](const auto& one) { return std::string(one.param.name); });

// What waits for others is not executed alike twice.
TEST(TracerTest, ChildrenRunUntraced) {
  for (const Engine engine : {Engine::kBlock, Engine::kStep}) {
    const Traced traced = Trace({.engine = engine}, Children);
    EXPECT_EQ(traced.status, 0);
    EXPECT_GT(traced.instructions, 100u);
  }
}

TEST(TracerTest, AThreadThatIsStartedMeanwhileRunsUntraced) {
  const Traced traced = Trace({}, Threads);
  EXPECT_EQ(traced.status, 0);
  EXPECT_EQ(traced.totals.size(), 1u);
}

TEST(TracerTest, EndsExactlyAfterSoManyInstructions) {
  for (const uint64_t limit : {1u, 100u, 257u, 1000u, 1503u}) {
    const Traced block = Trace({.instructions = limit}, Loops);
    const Traced step = Trace({.engine = Engine::kStep, .instructions = limit}, Loops);
    EXPECT_EQ(block.instructions, limit);
    EXPECT_EQ(step.instructions, limit);
    ASSERT_FALSE(block.branches.empty() || step.branches.empty());
    EXPECT_EQ(block.branches.back().from, step.branches.back().from) << limit;
    EXPECT_EQ(block.status, 0);
  }
}

thread_local int64_t counter = 0;
int ReadsItsCounter() {
  counter = 0;
  itrace_test_begin();
  const int64_t before = *const_cast<volatile int64_t*>(&counter);
  const long sum = Sum(100);
  const int64_t after = *const_cast<volatile int64_t*>(&counter);
  itrace_test_end();
  return after - before > 600 && after - before < 1000 && sum != 0 ? 0 : 1;
}

TEST(TracerTest, KeepsACounterInTheProcess) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "the sanitizers add instructions to what is counted";
#endif
  uint64_t pointer = 0;
  asm("mov %%fs:0, %0" : "=r"(pointer));
  const auto offset = static_cast<int64_t>(reinterpret_cast<uint64_t>(&counter) - pointer);
  for (const Engine engine : {Engine::kBlock, Engine::kStep}) {
    for (const bool records : {true, false}) {
      const Traced traced =
          Trace({.engine = engine, .records = records, .thread_counter = offset}, ReadsItsCounter);
      EXPECT_EQ(traced.status, 0);
    }
  }
}

// A place that exists only later, beside one that is never reached: a method that is compiled anew.
int IsReachedLater() {
  timeval start, now;
  gettimeofday(&start, nullptr);
  do {
    itrace_test_begin();
    itrace_test_end();
    gettimeofday(&now, nullptr);
  } while (now.tv_sec - start.tv_sec < 3);
  return 0;
}

TEST(TracerTest, LooksForPlacesUntilOneIsReached) {
  int looked = 0;
  const auto places = [&] {
    std::vector<uint64_t> found = {reinterpret_cast<uint64_t>(&Fib)};
    if (++looked > 2) found.push_back(reinterpret_cast<uint64_t>(&itrace_test_begin));
    return found;
  };
  const Traced traced = Trace({.begin_places = places}, IsReachedLater);
  EXPECT_EQ(traced.status, 0);
  EXPECT_GT(traced.instructions, 0u);
}

// Sanitizers make traced code slower.
#ifdef JPROF_SANITIZED
constexpr int kLess = 2;
#else
constexpr int kLess = 1;
#endif
constexpr long kBeforeKill = 4'000'000 / kLess;

int IsKilled() {
  itrace_test_begin();
  volatile long sum = 0;
  for (long i = 0; i < kBeforeKill; ++i) sum = sum + i;
  kill(getpid(), SIGKILL);
  return 0;
}

TEST(TracerTest, ReportsWhatAKilledProcessExecuted) {
  const Traced traced = Trace({}, IsKilled);
  EXPECT_TRUE(WIFSIGNALED(traced.status));
  EXPECT_GT(traced.instructions, 4u * kBeforeKill);
  uint64_t sum = 0;
  for (const profile::Branch& branch : traced.branches) sum += branch.instructions;
  EXPECT_EQ(sum, traced.instructions);
}

// The state of a process, as in /proc.
char StateOf(pid_t pid) { return procfs::ReadStatus(static_cast<uint32_t>(pid)).state; }

// Waits until a process is stopped, and stays so for a while. False: it never does.
bool AwaitStopped(pid_t pid) {
  for (int look = 0, stopped = 0; look < 6000; ++look) {
    const char state = StateOf(pid);
    stopped = state == 'T' || state == 't' ? stopped + 1 : 0;
    if (stopped == 20) return true;
    usleep(10'000);
  }
  return false;
}

// SIGSTOP stops a traced process, SIGCONT continues it. A child sends them.
int IsStopped() {
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    usleep(100'000);
    kill(self, SIGSTOP);
    const bool stopped = AwaitStopped(self);
    kill(self, SIGCONT);
    _exit(stopped ? 0 : 1);
  }
  int status = 1;
  itrace_test_begin();
  while (waitpid(child, &status, WNOHANG) == 0) {
  }
  itrace_test_end();
  return status == 0 ? 0 : 1;
}

TEST(TracerTest, StopsAndContinuesWithItsProcess) { EXPECT_EQ(Trace({}, IsStopped).status, 0); }

// Signals at any moment: none is lost, and the program computes what it should.
constexpr int kInterruptedTurns = 6'000 / kLess;
int IsInterrupted() {
  struct sigaction action = {};
  action.sa_handler = Count;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  long sum = 0;
  const long expected = Sum(300) + Fib(12);
  itrace_test_begin();
  volatile long size = 300, depth = 12;
  for (int i = 0; i < kInterruptedTurns; ++i) sum += Sum(size) + Fib(depth) == expected;
  itrace_test_end();
  signal(SIGALRM, SIG_IGN);
  return sum == kInterruptedTurns && handled > 10 ? 0 : 1;
}

TEST(TracerTest, SurvivesSignalsAtAnyMoment) {
  const Traced traced = Trace({}, IsInterrupted);
  EXPECT_EQ(traced.status, 0);
  EXPECT_GT(traced.totals.at(0).signals, 10u);
}

// A signal between the record of a reference and its instruction: each is recorded once.
constexpr uint64_t kStores = 400'000 / kLess;
volatile uint64_t stored_to[2];
int StoresBesideSignals() {
  struct sigaction action = {};
  action.sa_handler = Count;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  itrace_test_begin();
  for (uint64_t i = 0; i < kStores; ++i) {
    stored_to[0] = i;
    const uint64_t* from = const_cast<const uint64_t*>(stored_to);
    uint64_t* to = const_cast<uint64_t*>(stored_to) + 1;
    uint64_t count = 1;
    asm volatile("rep movsq" : "+c"(count), "+S"(from), "+D"(to) : : "memory");
  }
  itrace_test_end();
  signal(SIGALRM, SIG_IGN);
  return handled > 10 ? 0 : 1;
}

TEST(TracerTest, RecordsEachReferenceOnceBesideSignals) {
  const Traced traced = Trace({.records = false, .memory = true}, StoresBesideSignals);
  EXPECT_EQ(traced.status, 0);
  uint64_t stores[2] = {}, loads = 0, begins = 0;
  for (const profile::MemoryReference& one : traced.references) {
    const bool store = one.access == profile::MemoryAccess::kStore;
    if (one.address == reinterpret_cast<uint64_t>(&stored_to[0])) ++(store ? stores[0] : loads);
    if (one.address == reinterpret_cast<uint64_t>(&stored_to[1])) stores[1] += one.bytes / 8;
    begins += one.begins;
  }
  EXPECT_EQ(stores[0], kStores);
  EXPECT_EQ(stores[1], kStores);
  EXPECT_EQ(loads, kStores);
  EXPECT_EQ(begins, 1u);
  EXPECT_EQ(traced.totals.at(0).references, traced.references.size());
}

int StoresAroundAWait() {
  constexpr timespec kWait = {.tv_sec = 0, .tv_nsec = 50'000'000};
  itrace_test_begin();
  for (int i = 0; i < 1000; ++i) stored_to[0] = 1;
  nanosleep(&kWait, nullptr);
  for (int i = 0; i < 1000; ++i) stored_to[1] = 1;
  itrace_test_end();
  return 0;
}

TEST(TracerTest, NoReferenceIsAtATimeAtWhichTheThreadWaited) {
  const Traced traced = Trace({.records = false, .memory = true}, StoresAroundAWait);
  EXPECT_EQ(traced.status, 0);
  uint64_t last_before = 0, first_behind = ~uint64_t{0};
  for (const profile::MemoryReference& one : traced.references) {
    if (one.address == reinterpret_cast<uint64_t>(&stored_to[0]))
      last_before = std::max(last_before, one.time_ns);
    if (one.address == reinterpret_cast<uint64_t>(&stored_to[1]))
      first_behind = std::min(first_behind, one.time_ns);
  }
  ASSERT_NE(last_before, 0u);
  ASSERT_NE(first_behind, ~uint64_t{0});
  EXPECT_GE(first_behind, last_before + 50'000'000);
}

int FillsTheRing() {
  itrace_test_begin();
  for (uint64_t i = 0; i < 3 * kRingBytes / 16; ++i) stored_to[0] = 1;
  itrace_test_end();
  return 0;
}

TEST(TracerTest, NoReferenceIsAtATimeAtWhichTheThreadStoodStillForTheTracer) {
  constexpr uint64_t kNap = 20'000'000;
  const Traced traced = Trace({.records = false, .memory = true, .nap_ns = kNap}, FillsTheRing);
  EXPECT_EQ(traced.status, 0);
  ASSERT_GT(traced.references.size(), 3 * kRingBytes / 16);
  uint64_t longest = 0;  // between two references
  for (size_t i = 1; i < traced.references.size(); ++i)
    longest = std::max(longest, traced.references[i].time_ns - traced.references[i - 1].time_ns);
  EXPECT_GE(longest, kNap);
}

// Ends with the status 7 when SIGUSR1 comes.
pid_t AwaitsASignal() {
  int ready[2];
  if (pipe(ready) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGUSR1, [](int) { _exit(7); });
    (void)!write(ready[1], "r", 1);
    for (;;) pause();
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return child;
}

TEST(TracerTest, ATraceThatEndsEarlyPassesOnTheSignalThatStoppedAThread) {
  const pid_t child = AwaitsASignal();
  ASSERT_GT(child, 0);
  Traced traced;
  auto tracer = Tracer::Seize(child, {}, {}, traced);
  ASSERT_TRUE(tracer) << tracer.error().message;
  kill(child, SIGUSR1);
  siginfo_t stopped = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &stopped, WSTOPPED | WNOWAIT), 0);
  tracer->reset();
  int status = 0;
  for (int i = 0; i < 1000 && waitpid(child, &status, WNOHANG) == 0; ++i) usleep(10'000);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  if (!WIFEXITED(status)) kill(child, SIGKILL);
}

#endif

TEST(EngineCheckTest, TheBlockEngineCountsExactlyHere) {
#if defined(__x86_64__)
  const auto checked = CheckEngine();
  EXPECT_TRUE(checked) << checked.error().message;
#endif
}

}  // namespace
}  // namespace jprof::itrace
