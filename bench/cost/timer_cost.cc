// Measures the cost of a thread's timer for the thread: opening and closing it, by step and around
// a thread that does nothing else, in us of elapsed time, at 100 samples per second; then, in us of
// the threads' CPU time and at several rates, a period of a thread that computes, and the change
// from a thread that waits to another one on the same processor. Prints medians of interleaved
// rounds.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <vector>

#include "ptm/cpu_sampler.h"
#include "ptm/thread_timer.h"
#include "ptm/tsc.h"
#include "ptm/virtual_clock.h"

namespace {

using namespace jprof::ptm;

constexpr int kRounds = 2000;
constexpr uint64_t kPeriodNs = 10'000'000;

ThreadTimerSettings With(bool kernel, TimerSource source) {
  return {CpuClock(), kPeriodNs, SIGPROF, kernel, source};
}

class Times {
 public:
  explicit Times(const char* name) : name_(name) {}
  template <typename Step>
  void Add(Step step) {
    const int64_t begin = ReadTsc();
    step();
    ticks_.push_back(ReadTsc() - begin);
  }
  double Print(double ticks_per_us) {
    std::ranges::sort(ticks_);
    const double us = static_cast<double>(ticks_[ticks_.size() / 2]) / ticks_per_us;
    std::printf("%-44s %8.1f us\n", name_, us);
    return us;
  }

 private:
  const char* name_;
  std::vector<int64_t> ticks_;
};

void* Sampled(void* argument) {
  if (argument == nullptr) return nullptr;
  ThreadTimer sampler;
  if (sampler.Open(*static_cast<const ThreadTimerSettings*>(argument), 1) == 0) sampler.Start();
  return nullptr;
}
void RunThread(const ThreadTimerSettings* sampling) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, Sampled, const_cast<ThreadTimerSettings*>(sampling)) == 0)
    pthread_join(thread, nullptr);
}

constexpr int kRunningRounds = 7, kChanges = 5'000;
constexpr uint64_t kSteps = 100'000'000;

double CpuMicros() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// Returns the CPU time of a fixed computation, in us.
double Compute(const ThreadTimerSettings* sampling) {
  ThreadTimer sampler;
  if (sampling != nullptr && sampler.Open(*sampling, 1) == 0) sampler.Start();
  const double begin = CpuMicros();
  uint64_t x = 1;
  for (uint64_t i = 0; i < kSteps; ++i) x = x * 6364136223846793005u + i;
  __asm__ volatile("" : : "r"(x));  // it is needed
  return CpuMicros() - begin;
}

std::atomic<int> turn = 0;

struct Player {
  const ThreadTimerSettings* sampling;
  int number;
  double us = 0;
};
void* Play(void* argument) {
  auto& player = *static_cast<Player*>(argument);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  ThreadTimer sampler;
  if (player.sampling != nullptr && sampler.Open(*player.sampling, 1) == 0) sampler.Start();
  const double begin = CpuMicros();
  for (int i = 0; i < kChanges; ++i) {
    while (turn != player.number)
      syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - player.number, nullptr, nullptr, 0);
    turn = 1 - player.number;
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  player.us = CpuMicros() - begin;
  return nullptr;
}
// Returns the CPU time for each change of threads, in us: of two futex calls, and of the change.
double Change(const ThreadTimerSettings* sampling) {
  turn = 0;
  Player players[] = {{sampling, 0}, {sampling, 1}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], nullptr, Play, &players[i]);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  return (players[0].us + players[1].us) / (2 * kChanges);
}

struct Running {
  const char* name;
  ThreadTimerSettings sampling;
  bool timer = true;
  std::vector<double> work = {}, change = {};
};

double Median(std::vector<double>& values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void MeasureRunning() {
  const auto with = [](uint64_t rate, bool kernel, TimerSource source) {
    return ThreadTimerSettings{CpuClock(), 1'000'000'000 / rate, SIGPROF, kernel, source};
  };
  Running all[] = {{"none", {}, false},
                   {"perf event, 1,000/s", with(1000, true, TimerSource::kPerf)},
                   {"perf event, 200/s", with(200, true, TimerSource::kPerf)},
                   {"perf event, 100/s", with(100, true, TimerSource::kPerf)},
                   {"POSIX timer, 1,000/s", with(1000, false, TimerSource::kPosix)},
                   {"POSIX timer, 200/s", with(200, false, TimerSource::kPosix)}};
  for (int round = 0; round < kRunningRounds; ++round) {
    for (Running& one : all) {
      const ThreadTimerSettings* sampling = one.timer ? &one.sampling : nullptr;
      one.work.push_back(Compute(sampling));
      one.change.push_back(Change(sampling));
    }
  }
  const double plain = Median(all[0].work);
  std::printf("%-28s %18s %22s\n", "timer", "a period computing", "a change of threads");
  for (Running& one : all) {
    const double periods = one.timer ? plain * 1e3 / static_cast<double>(one.sampling.period) : 0;
    std::printf("%-28s %15.1f us %19.1f us\n", one.name,
                periods != 0 ? (Median(one.work) - plain) / periods : 0, Median(one.change));
  }
}

struct Steps {
  const char* name;
  ThreadTimerSettings sampling;
  Times open, start, stop, close, thread;
};
Steps StepsOf(const char* name, const ThreadTimerSettings& sampling) {
  return {name,
          sampling,
          Times("  open"),
          Times("  start"),
          Times("  stop"),
          Times("  close"),
          Times("  a thread that is started and joined")};
}

}  // namespace

int main() {
  signal(SIGPROF, [](int) {});
  Steps all[] = {StepsOf("perf event, with the kernel's frames", With(true, TimerSource::kPerf)),
                 StepsOf("perf event", With(false, TimerSource::kPerf)),
                 StepsOf("POSIX timer", With(false, TimerSource::kPosix))};
  Times plain("a thread without a timer, started and joined");
  for (int round = 0; round < kRounds; ++round) {
    plain.Add([] { RunThread(nullptr); });
    for (Steps& steps : all) {
      ThreadTimer sampler;
      int error = 0;
      steps.open.Add([&] { error = sampler.Open(steps.sampling, 1); });
      if (error != 0) {
        std::fprintf(stderr, "timer_cost: %s: error %d\n", steps.name, error);
        return 77;
      }
      steps.start.Add([&] { sampler.Start(); });
      steps.stop.Add([&] { sampler.Stop(); });
      steps.close.Add([&] { sampler.Close(); });
      steps.thread.Add([&] { RunThread(&steps.sampling); });
    }
  }
  const double ticks_per_us = MeasureTicksPerSecond(20) / 1e6;
  const double bare = plain.Print(ticks_per_us);
  for (Steps& steps : all) {
    std::printf("%s\n", steps.name);
    for (Times* times : {&steps.open, &steps.start, &steps.stop, &steps.close})
      times->Print(ticks_per_us);
    std::printf("  %-42s %8.1f us\n", "more than without", steps.thread.Print(ticks_per_us) - bare);
  }
  MeasureRunning();
}
