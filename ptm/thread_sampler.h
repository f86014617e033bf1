// A signal to one thread for each so much of its own CPU time, or for each so many events: what
// callstack sampling is driven by. CPU time is the perf event cpu-clock, exact to the microsecond;
// where the kernel does not let a user see its own part, a POSIX CPU-time timer, which counts that
// part, too, but only ticks with the kernel's HZ (a signal then stands for several periods).
//
// Open, Close: the thread itself. Start, Stop: anyone. The rest: in the signal handler, on the
// thread; async-signal-safe.
#pragma once

#include <signal.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "ptm/event_spec.h"

namespace jprof::ptm {

struct ThreadSampling {
  EventSpec event;      // CpuClock() of ptm/sampler.h: the period is in ns
  uint64_t period = 0;  // one signal for each so many
  int signal = SIGPROF;
  bool kernel = false;  // with the kernel's part of the stack, where that is permitted
};

class ThreadSampler {
 public:
  ThreadSampler() = default;
  ~ThreadSampler() { Close(); }
  ThreadSampler(const ThreadSampler&) = delete;
  ThreadSampler& operator=(const ThreadSampler&) = delete;

  // For the calling thread, stopped; the first period is a random part of one (`random`: any
  // number). An errno, 0 = open.
  int Open(const ThreadSampling& what, uint64_t random);
  void Start();
  void Stop();
  void Close();

  bool by_timer() const { return has_timer_; }
  // How many periods the signal stands for; 0: it is not of this sampler. Sets the period after the
  // first signal.
  int64_t Take(const siginfo_t& signal);
  // The kernel's frames of the sample just taken, innermost first; answers how many.
  size_t KernelFrames(uint64_t* out, size_t room);

 private:
  int OpenEvent(const ThreadSampling& what, uint64_t first, bool user_only);
  int OpenTimer(const ThreadSampling& what, uint64_t first);
  void MapRing();

  int fd_ = -1;
  bool has_timer_ = false;
  bool first_ = true;
  timer_t timer_ = {};
  itimerspec times_ = {};
  uint64_t period_ = 0;
  void* ring_ = nullptr;  // a page that describes it and one of data; null: no kernel frames
};

}  // namespace jprof::ptm
