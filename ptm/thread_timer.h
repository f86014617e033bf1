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

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/result.h"
#include "ptm/event_spec.h"
#include "ptm/sampling_rate.h"

namespace jprof::ptm {

// What counts the CPU time of cpu-clock.
enum class TimerSource : uint8_t {
  kAny,    // the perf event, or where it cannot be had the POSIX timer
  kPerf,   // the perf event, or an error
  kPosix,  // the POSIX CPU-time timer
};

struct ThreadTimerSettings {
  EventSpec event;      // CpuClock() of ptm/cpu_sampler.h: the period is in ns
  uint64_t period = 0;  // one signal for each so many
  int signal = SIGPROF;
  bool kernel = false;  // with the kernel's part of the stack, where that is permitted
  TimerSource source = TimerSource::kAny;  // for cpu-clock; other events are always perf's
};

// The first signal comes at a random time, so that threads do not tick together.
struct FirstPeriod {
  uint64_t length = 0;   // until the first signal, in the unit of the period
  uint64_t periods = 0;  // how many periods that signal stands for
};
// `length` is uniform in (0, period]; where that is below max(period / 2, shortest), the periods
// that follow are joined with it until it is not, so that the expected number of samples is right.
FirstPeriod FirstPeriodOf(uint64_t period, uint64_t shortest, uint64_t random);

// Whether the calling thread can have its timer or event. Error (exit code 2): why not, and what to
// change.
Result<void> CheckThreadTimer(const ThreadTimerSettings& what);

class ThreadTimer {
 public:
  ThreadTimer() = default;
  ~ThreadTimer() { Close(); }
  ThreadTimer(const ThreadTimer&) = delete;
  ThreadTimer& operator=(const ThreadTimer&) = delete;

  // For the calling thread, stopped. `random`: any number; the first periods follow from it.
  // Returns an errno, 0 = open; EINVAL: a clock with a period below kShortestClockPeriod.
  int Open(const ThreadTimerSettings& what, uint64_t random);
  // Begins with a new random first period, also after Stop.
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
  int OpenEvent(const ThreadTimerSettings& what, uint64_t first, bool user_only);
  int OpenTimer(const ThreadTimerSettings& what);
  void MapRing();

  int fd_ = -1;
  bool has_timer_ = false;
  std::atomic<uint64_t> first_periods_ = 0;  // of the signal to come; 0: it is not the first
  timer_t timer_ = {};
  uint64_t period_ = 0;
  uint64_t shortest_ = 1;  // no first period is below
  uint64_t random_ = 0;
  void* ring_ = nullptr;  // a page that describes it and one of data; null: no kernel frames
};

}  // namespace jprof::ptm
