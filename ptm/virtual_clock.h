// Computes a thread's on-CPU time from the TSC, without a system call while the thread is
// not dispatched.
//
// A per-thread software event is opened and its page mapped: the kernel increments the page's
// `lock` by 2 each time it schedules the thread in. While `lock` is constant, a TSC difference is
// pure on-CPU time. When it has changed, Redispatch() reads the thread's CPU time from the kernel
// once and returns the on-CPU part of the interval.
//
// Only the thread that called Open may call anything here. Nothing throws or allocates. No
// descriptor is kept: the mapping alone keeps the event alive.
#pragma once

#include <cstdint>
#include <optional>

#include "ptm/tsc.h"

namespace jprof::ptm {

class VirtualClock {
 public:
  VirtualClock() = default;
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;
  ~VirtualClock() { Close(); }

  // Opens it for the calling thread. Returns false and sets errno if no event could be
  // opened; then time is wall clock, and Dispatched() is always false. `ticks_per_ns` is
  // from MeasureTicksPerSecond.
  bool Open(double ticks_per_ns);
  void Close();
  bool virtualised() const { return page_ != nullptr; }

  // Returns whether the thread was scheduled in since the last Redispatch (or Open).
  bool Dispatched() const { return __atomic_load_n(lock_, __ATOMIC_RELAXED) != seen_; }

  // These are for the fast path, which keeps its own copy of them.
  const uint32_t* lock() const { return lock_; }
  uint32_t seen() const { return seen_; }

  struct Redispatched {
    int64_t now;  // ReadTsc() with no dispatch after it
    // On-CPU ticks between `last` and `now`. They may be slightly negative, as there are
    // two clocks.
    int64_t elapsed;
    uint32_t dispatches;  // number of times that it was scheduled in since
  };
  // Computes the on-CPU time since `last`, the ReadTsc() value up to which time has been
  // attributed. Requires that no dispatch occurred between the previous call and `last`.
  Redispatched Redispatch(int64_t last);

  // Starts counting here, so that earlier dispatches are ignored. Returns the ReadTsc() value of
  // that moment.
  int64_t Restart();

  // Returns the kernel's CPU time of the calling thread, in ns.
  static int64_t CpuNanos();
  // Does the same for any thread of this process. Returns nothing if it has ended.
  static std::optional<int64_t> CpuNanosOf(uint32_t tid);

 private:
  // Reads both clocks with no dispatch in between, and sets the anchor. Returns the TSC just
  // before.
  int64_t Anchor();

  void* page_ = nullptr;
  const uint32_t* lock_ = &kNeverMoves;
  uint32_t seen_ = 0;
  double ticks_per_ns_ = 1;
  // The last anchor: TSC and CPU time read together. The on-CPU time of an interval that contains
  // dispatches is the CPU time since the anchor minus the on-CPU time between the anchor and
  // `last`.
  int64_t anchor_tsc_ = 0;
  int64_t anchor_cpu_ns_ = 0;
  static const uint32_t kNeverMoves;
};

// Returns TSC ticks per second, measured against CLOCK_MONOTONIC_RAW over about `milliseconds`
// of waiting.
double MeasureTicksPerSecond(int milliseconds);

// These measure the mean cost of one ReadTsc() in a series, in ticks; the timer overhead, which is
// what a timed event around nothing measures; and the step of the TSC.
double MeasureReadTicks();
double MeasureTimerOverhead();
int64_t MeasureGranularity();

}  // namespace jprof::ptm
