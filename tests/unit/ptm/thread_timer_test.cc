#include "ptm/thread_timer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "ptm/cpu_sampler.h"

namespace jprof::ptm {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

ThreadTimer* current = nullptr;
volatile int64_t taken = 0, kernel_frames = 0;
volatile pid_t taken_on = 0;

void OnSignal(int, siginfo_t* info, void*) {
  if (current == nullptr) return;
  taken = taken + current->Take(*info);
  uint64_t frames[64];
  const size_t count = current->KernelFrames(frames, 64);
  for (size_t i = 0; i < count; ++i)
    kernel_frames = kernel_frames + (frames[i] >> 63 != 0 ? 1 : -1'000'000);
  taken_on = static_cast<pid_t>(syscall(SYS_gettid));
}

uint64_t Nanos(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}
uint64_t CpuNanos() { return Nanos(CLOCK_THREAD_CPUTIME_ID); }
void Burn(uint64_t ns) {
  for (const uint64_t end = CpuNanos() + ns; CpuNanos() < end;) {
  }
}

// Runs until the thread's timer has sent a signal, for 6 s of CPU time at most. The kernel's tick
// serves POSIX timers: a loaded virtual machine has sent no signal for 0.3 s, and then many.
void BurnUntilTaken() {
  for (const uint64_t end = CpuNanos() + 6'000 * kMillisecond; taken == 0 && CpuNanos() < end;) {
  }
}

class ThreadTimerTest : public testing::Test {
 protected:
  void SetUp() override {
    struct sigaction action = {};
    action.sa_sigaction = OnSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    taken = 0;
    kernel_frames = 0;
    current = &sampler_;
  }
  void TearDown() override {
    sampler_.Close();
    current = nullptr;
  }
  // Opens the timer, or sets the reason for skipping.
  bool Open(const EventSpec& event, uint64_t period, bool kernel = false) {
    const int error = sampler_.Open({event, period, SIGPROF, kernel}, 12345);
    if (error != 0) skipped_ = strerror(error);
    return error == 0;
  }
  ThreadTimer sampler_;
  std::string skipped_;
};

constexpr uint64_t kShortest = 100'000;

// For every residue of a random number: no first period is short, and none stands for too many.
TEST(FirstPeriod, IsNeverShortWhateverTheRandomNumber) {
  for (const uint64_t period : {50'000ull, 100'000ull, 166'667ull, 200'001ull, 1'000'000ull}) {
    uint64_t shortest = ~uint64_t{0}, periods = 0, lengths = 0;
    for (uint64_t random = 0; random < period; ++random) {
      const FirstPeriod first = FirstPeriodOf(period, kShortest, random);
      shortest = std::min(shortest, first.length);
      periods += first.periods;
      lengths += first.length;
      ASSERT_LE(first.length, first.periods * period);
      ASSERT_GT(first.length, (first.periods - 1) * period);
    }
    EXPECT_GE(shortest, std::max(period / 2, kShortest)) << period;
    // On average, a signal stands for the elapsed time plus half a period: no bias.
    EXPECT_NEAR(double(periods) - double(lengths) / double(period), double(period) / 2, 1)
        << period;
  }
  const FirstPeriod largest = FirstPeriodOf(1'000'000, kShortest, ~uint64_t{0});
  EXPECT_GE(largest.length, 500'000u);
  EXPECT_EQ(FirstPeriodOf(1, 1, 0).length, 1u);
}

TEST_F(ThreadTimerTest, RefusesAPeriodThatCannotBeServed) {
  EXPECT_EQ(sampler_.Open({CpuClock(), kShortestClockPeriod - 1, SIGPROF}, 1), EINVAL);
  EXPECT_EQ(sampler_.Open({CpuClock(), 0, SIGPROF}, 1), EINVAL);
}

// For any random number, and also after each restart: the first signal does not come before half a
// period, and then one comes each period.
TEST_F(ThreadTimerTest, TheFirstSignalIsNeverEarly) {
  constexpr uint64_t kPeriod = 4 * kMillisecond;
  for (uint64_t random = 0; random < 40; ++random) {
    const int error = sampler_.Open({CpuClock(), kPeriod, SIGPROF}, random * 0x9e3779b97f4a7c15ull);
    if (error != 0) GTEST_SKIP() << strerror(error);
    if (sampler_.by_timer()) GTEST_SKIP() << "the kernel's tick decides when a POSIX timer expires";
    for (int restart = 0; restart < 2; ++restart) {
      taken = 0;
      // The event counts elapsed time while the thread has a processor, CPU time less: a
      // hypervisor's share is not in it.
      const uint64_t begin = Nanos(CLOCK_MONOTONIC), cpu = CpuNanos();
      sampler_.Start();
      while (taken == 0 && CpuNanos() < cpu + 4 * kPeriod) {
      }
      EXPECT_GE(Nanos(CLOCK_MONOTONIC) - begin, kPeriod / 2) << random;
      EXPECT_GT(taken, 0) << random;
      sampler_.Stop();
    }
  }
}

TEST_F(ThreadTimerTest, TakesOneSampleAPeriodOfCpuTime) {
  if (!Open(CpuClock(), kMillisecond)) GTEST_SKIP() << skipped_;
  Burn(20 * kMillisecond);
  EXPECT_EQ(taken, 0);  // it was not started
  sampler_.Start();
  Burn(500 * kMillisecond);
  sampler_.Stop();
  const int64_t all = taken;
  EXPECT_NEAR(static_cast<double>(all), 500, 50);
  Burn(20 * kMillisecond);
  EXPECT_LE(taken, all + 1);  // one may have been pending
}

TEST_F(ThreadTimerTest, DoesNotCountTimeOffTheProcessorNorOtherThreads) {
  if (!Open(CpuClock(), kMillisecond)) GTEST_SKIP() << skipped_;
  sampler_.Start();
  std::thread other([] { Burn(100 * kMillisecond); });
  other.join();
  usleep(50'000);
  EXPECT_LT(taken, 10);
  Burn(200 * kMillisecond);
  EXPECT_GE(taken, 160);  // a timer whose signals wait for the kernel's tick loses some at the end
  EXPECT_EQ(taken_on, static_cast<pid_t>(syscall(SYS_gettid)));
}

TEST_F(ThreadTimerTest, StartsAgainAndIgnoresForeignSignals) {
  if (!Open(CpuClock(), kMillisecond)) GTEST_SKIP() << skipped_;
  raise(SIGPROF);
  EXPECT_EQ(taken, 0);
  for (int i = 0; i < 5; ++i) {
    sampler_.Start();
    Burn(100 * kMillisecond);
    sampler_.Stop();
  }
  EXPECT_NEAR(static_cast<double>(taken), 500, 75);  // as above, five times
}

TEST_F(ThreadTimerTest, GivesTheKernelsFramesWhereAllowed) {
  if (!SamplingPermission().kernel) GTEST_SKIP() << SamplingPermission().advice;
  if (!Open(CpuClock(), kMillisecond, true)) GTEST_SKIP() << skipped_;
  sampler_.Start();
  char page[4096];
  for (const uint64_t end = CpuNanos() + 200 * kMillisecond; CpuNanos() < end;) {
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (read(fd, page, sizeof page) > 0) {
    }
    close(fd);
  }
  sampler_.Stop();
  EXPECT_GT(kernel_frames,
            200);  // of about 200 samples, most in the kernel and several frames deep
}

TEST_F(ThreadTimerTest, CountsASoftwareEvent) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "a sanitizer touches memory of its own: page faults are not exact";
#endif
  EventSpec faults = CpuClock();
  faults.config = 2;  // PERF_COUNT_SW_PAGE_FAULTS
  if (!Open(faults, 10)) GTEST_SKIP() << skipped_;
  sampler_.Start();
  constexpr size_t kPages = 1000;
  auto* memory = static_cast<volatile char*>(
      mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(const_cast<char*>(memory), kPages * 4096, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < kPages; ++i) memory[i * 4096] = 1;
  munmap(const_cast<char*>(memory), kPages * 4096);
  EXPECT_NEAR(static_cast<double>(taken), kPages / 10.0, 5);
}

// The program closes the descriptor, and another thread's event gets its number.
TEST_F(ThreadTimerTest, AnEventOfTheSameNumberIsNotClosed) {
  if (!Open(CpuClock(), kMillisecond)) GTEST_SKIP() << skipped_;
  if (sampler_.by_timer()) GTEST_SKIP() << "a POSIX timer has no descriptor";
  EXPECT_FALSE(sampler_.lost());
  int number = 3;  // of the only event of this process
  while (EventId(number) == 0) ++number;
  perf_event_attr attr = AttributesOf(CpuClock());
  const int other = OpenAllowed(CpuClock(), attr, {}, -1);
  ASSERT_GE(other, 0);
  ASSERT_EQ(dup2(other, number), number);
  EXPECT_TRUE(sampler_.lost());
  sampler_.Close();
  EXPECT_EQ(EventId(number), EventId(other));
  close(number);
  close(other);
}

TEST_F(ThreadTimerTest, RefusesAShortPeriodOfTheOtherClockToo) {
  EXPECT_EQ(sampler_.Open({TaskClock(), kShortestClockPeriod - 1, SIGPROF}, 1), EINVAL);
}

TEST_F(ThreadTimerTest, ThePosixTimerCanBeChosen) {
  ASSERT_EQ(sampler_.Open({CpuClock(), kMillisecond, SIGPROF, false, TimerSource::kPosix}, 1), 0);
  EXPECT_TRUE(sampler_.by_timer());
  const uint64_t before = CpuNanos();
  sampler_.Start();
  BurnUntilTaken();
  Burn(100 * kMillisecond);
  sampler_.Stop();
  const auto periods = static_cast<int64_t>((CpuNanos() - before) / kMillisecond);
  EXPECT_GT(taken, 0);
  EXPECT_LE(taken, periods + periods / 5 + 2) << "more than there were periods";
}

// Without a free descriptor, as in a container that forbids perf events.
TEST_F(ThreadTimerTest, FallsBackOnlyWhereNoSourceWasChosen) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const int any = sampler_.Open({CpuClock(), kMillisecond, SIGPROF}, 1);
  const bool by_timer = sampler_.by_timer();
  const int perf = sampler_.Open({CpuClock(), kMillisecond, SIGPROF, false, TimerSource::kPerf}, 1);
  const bool perf_by_timer = sampler_.by_timer();
  const auto checked =
      CheckThreadTimer({CpuClock(), kMillisecond, SIGPROF, false, TimerSource::kPerf});
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(any, 0);
  EXPECT_TRUE(by_timer);
  EXPECT_NE(perf, 0);
  EXPECT_FALSE(perf_by_timer);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, Error::Kind::kWrongUse);
}

TEST_F(ThreadTimerTest, AnotherThreadOpensItForAThread) {
  for (const TimerSource source : {TimerSource::kAny, TimerSource::kPosix}) {
    std::atomic<pid_t> tid = 0;
    std::atomic<bool> opened = false;
    taken = 0;
    taken_on = 0;
    std::thread owner([&] {
      tid = static_cast<pid_t>(syscall(SYS_gettid));
      while (!opened) std::this_thread::yield();
      BurnUntilTaken();
    });
    while (tid == 0) std::this_thread::yield();
    const int error = sampler_.Open({CpuClock(), 10 * kMillisecond, SIGPROF, false, source}, 12345,
                                    static_cast<uint32_t>(tid));
    EXPECT_EQ(error, 0);
    sampler_.Start();
    opened = true;
    owner.join();
    sampler_.Close();
    EXPECT_GT(taken, 0);
    EXPECT_EQ(taken_on, tid);
  }
}

}  // namespace
}  // namespace jprof::ptm
