// Sends a signal to one thread every `period` ns of its own CPU time, or every `period` events,
// which triggers callstack sampling.
//
// - CPU time is the perf event cpu-clock, exact to the microsecond. Where the kernel does not
//   permit a user to see kernel mode, it is a POSIX CPU-time timer, which includes kernel mode but
//   ticks only with the kernel's HZ (one signal then stands for several periods).
// - The perf event starts a timer of the processor whenever the kernel resumes the thread, and
//   stops it when the thread is interrupted or waits. The POSIX timer costs nothing then
//   (docs/decisions/sampling/0042-timers-of-threads-that-wait.md).
// - The thread itself or another thread of the process may call Open. The same thread may call
//   Close, and any thread may do so once no handler uses the timer.
// - Any thread may call Start and Stop.
// - The other functions are called in the signal handler, on the thread. They are
//   async-signal-safe.
#pragma once

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/result.h"
#include "ptm/event_spec.h"
#include "ptm/open_event.h"
#include "ptm/sampling_rate.h"

namespace jprof::ptm {

// The source of CPU time for cpu-clock.
enum class TimerSource : uint8_t {
  kAny,    // the perf event, or the POSIX timer where that is not available
  kPerf,   // the perf event, or an error
  kPosix,  // the POSIX CPU-time timer
};

struct ThreadTimerSettings {
  EventSpec event;      // with CpuClock() of ptm/cpu_sampler.h, the period is in ns
  uint64_t period = 0;  // one signal every `period`
  int signal = SIGPROF;
  bool kernel = false;  // includes the kernel frames of the stack, where permitted
  TimerSource source = TimerSource::kAny;  // for cpu-clock; other events always use perf
};

// The first period. Its signal comes at a random time, so that the threads' signals do
// not coincide.
struct FirstPeriod {
  uint64_t length = 0;   // until the first signal, in the unit of the period
  uint64_t periods = 0;  // how many periods that signal stands for
};
// Chooses a `length` that is uniform in (0, period]. If it is below max(period / 2, shortest),
// following periods are merged with it until it is not, so that the expected number of samples
// is right.
FirstPeriod FirstPeriodOf(uint64_t period, uint64_t shortest, uint64_t random);

// Checks that the calling thread can open its timer or event. Fails (kWrongUse) with the reason,
// and what to change.
Result<void> CheckThreadTimer(const ThreadTimerSettings& what);

class ThreadTimer {
 public:
  ThreadTimer() = default;
  ~ThreadTimer() { Close(); }
  ThreadTimer(const ThreadTimer&) = delete;
  ThreadTimer& operator=(const ThreadTimer&) = delete;

  // Opens it, stopped, for the calling thread, or for thread `tid` of this process. `random` is any
  // number, which determines the first periods. Returns 0 if it is open, otherwise an errno, which
  // is EINVAL for a period of 0, or a clock with one below kShortestClockPeriod.
  int Open(const ThreadTimerSettings& what, uint64_t random, uint32_t tid = 0);
  // Begins with a new random first period, even after Stop.
  void Start();
  void Stop();
  void Close();

  bool by_timer() const { return has_timer_; }
  // Returns the errno that made it a POSIX timer with kAny, or that leaves samples without the
  // kernel frames that were requested, or 0 if neither happened.
  int limited_by() const { return limited_by_; }
  // Returns whether the program has closed the descriptor of the event and so has ended its
  // samples. If the event's buffer is mapped, the event survives. It is still lost if its first
  // signal has not come, because its random first period can no longer be replaced.
  bool lost() const { return fd_ >= 0 && (ring_ == nullptr || first_periods_ != 0) && !IsOpen(); }
  // Returns the number of periods that the signal stands for, or 0 if it is not from this timer.
  // Sets the period after the first signal.
  int64_t Take(const siginfo_t& signal);
  // Stores the kernel frames of the current sample, innermost first, and returns their number.
  size_t KernelFrames(uint64_t* out, size_t room);

 private:
  int OpenEvent(const ThreadTimerSettings& what, uint64_t first, bool user_only);
  int OpenTimer(const ThreadTimerSettings& what);
  void MapRing();

  // Returns false also after the program has closed the descriptor.
  bool IsOpen() const { return fd_ >= 0 && EventId(fd_) == id_; }

  int fd_ = -1;
  uint64_t id_ = 0;
  pid_t thread_ = 0;  // the thread that it is for
  bool has_timer_ = false;
  std::atomic<uint64_t> first_periods_ = 0;  // of the next signal; 0 if it is not the first
  timer_t timer_ = {};
  uint64_t period_ = 0;
  uint64_t shortest_ = 1;  // lower bound of first periods
  uint64_t random_ = 0;
  int limited_by_ = 0;
  void* ring_ = nullptr;  // a page of metadata and one of data; null if there are no kernel frames
};

}  // namespace jprof::ptm
