#include "ptm/thread_sampler.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "ptm/sampler.h"

namespace jprof::ptm {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

ThreadSampler* current = nullptr;
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

uint64_t CpuNanos() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}
void Burn(uint64_t ns) {
  for (const uint64_t end = CpuNanos() + ns; CpuNanos() < end;) {
  }
}

class ThreadSamplerTest : public testing::Test {
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
  // Opens, or says why not.
  bool Open(const EventSpec& event, uint64_t period, bool kernel = false) {
    const int error = sampler_.Open({event, period, SIGPROF, kernel}, 12345);
    if (error != 0) skipped_ = strerror(error);
    return error == 0;
  }
  ThreadSampler sampler_;
  std::string skipped_;
};

TEST_F(ThreadSamplerTest, TakesOneSampleAPeriodOfCpuTime) {
  if (!Open(CpuClock(), kMillisecond)) GTEST_SKIP() << skipped_;
  Burn(20 * kMillisecond);
  EXPECT_EQ(taken, 0);  // it was not started
  sampler_.Start();
  Burn(500 * kMillisecond);
  sampler_.Stop();
  const int64_t all = taken;
  EXPECT_NEAR(static_cast<double>(all), 500, 50);
  Burn(20 * kMillisecond);
  EXPECT_LE(taken, all + 1);  // one may have been under way
}

TEST_F(ThreadSamplerTest, DoesNotCountTimeOffTheProcessorNorOtherThreads) {
  if (!Open(CpuClock(), kMillisecond)) GTEST_SKIP() << skipped_;
  sampler_.Start();
  std::thread other([] { Burn(100 * kMillisecond); });
  other.join();
  usleep(50'000);
  EXPECT_LT(taken, 10);
  Burn(50 * kMillisecond);
  EXPECT_GE(taken, 40);
  EXPECT_EQ(taken_on, static_cast<pid_t>(syscall(SYS_gettid)));
}

TEST_F(ThreadSamplerTest, StartsAgainAndIgnoresForeignSignals) {
  if (!Open(CpuClock(), kMillisecond)) GTEST_SKIP() << skipped_;
  raise(SIGPROF);
  EXPECT_EQ(taken, 0);
  for (int i = 0; i < 5; ++i) {
    sampler_.Start();
    Burn(20 * kMillisecond);
    sampler_.Stop();
  }
  EXPECT_NEAR(static_cast<double>(taken), 100, 25);
}

TEST_F(ThreadSamplerTest, GivesTheKernelsFramesWhereAllowed) {
  if (!SamplingPermission().kernel) GTEST_SKIP() << SamplingPermission().advice;
  if (!Open(CpuClock(), kMillisecond / 10, true)) GTEST_SKIP() << skipped_;
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
            500);  // of about 2,000 samples, most in the kernel and several frames deep
}

TEST_F(ThreadSamplerTest, CountsASoftwareEvent) {
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

}  // namespace
}  // namespace jprof::ptm
