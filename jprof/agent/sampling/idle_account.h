// Computes for the triggers IDLE and WALL how much unsampled time each thread has accumulated, and
// which threads are signalled in a tick. It uses no clock, thread or signal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace jprof::agent {

// One tick of a trigger, as all threads see it.
struct IdleTick {
  int64_t period_ns = 1;        // period of the trigger
  int64_t passed_ns = 0;        // time since the last tick, a multiple of the period
  bool counts_running = false;  // true for WALL, where CPU time counts like idle time
  uint32_t run = 0;             // changes whenever sampling starts
};

// The unsampled time of one thread for one trigger. Zeroed memory is a valid object. Only the
// background thread may use it.
class IdleAccount {
 public:
  // Adds a tick. `cpu_ns` is the CPU time of the thread so far; for IDLE the CPU time of the tick
  // is subtracted. `recorded_ns` is the time since the recording of the thread began, more than
  // which its first tick does not count. Ticks are early or late, so the balance may be negative
  // temporarily. Returns the number of samples to request from the thread, which is 0 if less than
  // a period is unsampled, or if the thread ran for more than half of the tick.
  int64_t Add(const IdleTick& tick, uint64_t cpu_ns, int64_t recorded_ns) {
    int64_t passed_ns = tick.passed_ns;
    const int64_t used_ns = static_cast<int64_t>(cpu_ns - cpu_ns_);
    cpu_ns_ = cpu_ns;
    int64_t ran_ns = tick.counts_running ? 0 : used_ns;
    if (std::exchange(run_, tick.run) != tick.run) {  // the time before this run does not count
      passed_ns = std::min(passed_ns, recorded_ns);
      ran_ns = std::min(ran_ns, passed_ns);
      unsampled_ns_ = 0;
    }
    unsampled_ns_ += passed_ns - ran_ns;
    if (ran_ns > passed_ns / 2) return 0;
    return std::max(int64_t{0}, unsampled_ns_) / tick.period_ns;
  }

  // Records that `samples` samples were requested from the thread.
  void Subtract(const IdleTick& tick, int64_t samples) {
    unsampled_ns_ -= samples * tick.period_ns;
  }

 private:
  uint64_t cpu_ns_ = 0;  // CPU time at the last tick
  int64_t unsampled_ns_ = 0;
  uint32_t run_ = 0;
};

// Limits the number of threads that are signalled in a tick; the next tick continues where the last
// one stopped.
class Rotation {
 public:
  explicit Rotation(uint32_t limit) : limit_(limit) {}

  // Advances to the next thread. Returns false if it is not to be signalled in this tick.
  bool Next() { return place_++ >= first_ && signalled_ < limit_; }
  // Records that the current thread was signalled.
  void Signalled() {
    ++signalled_;
    last_ = place_;
  }
  // Ends the tick. Call this when all threads have been visited.
  void EndTick() {
    first_ = signalled_ == limit_ && last_ < place_ ? last_ : 0;
    place_ = signalled_ = 0;
  }

 private:
  const uint32_t limit_;
  uint32_t first_ = 0;             // index of the thread at which the tick begins
  uint32_t place_ = 0, last_ = 0;  // current and last signalled thread, counted from 1
  uint32_t signalled_ = 0;
};

}  // namespace jprof::agent
