// Measures the cost of a thread's timer for the thread: opening and closing it, by step and around
// a thread that does nothing else. Prints medians of interleaved rounds, in us of elapsed time, at
// 100 samples per second.
#include <pthread.h>
#include <signal.h>

#include <algorithm>
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
  signal(SIGPROF, SIG_IGN);
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
}
