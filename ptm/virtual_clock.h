// A thread's on-CPU time from the TSC, without a system call while the thread is not dispatched.
//
// A per-thread software event is opened and its page mapped: the kernel bumps the page's `lock` by
// 2 each time it schedules the thread in. While `lock` stands still, a TSC difference is pure
// on-CPU time; when it moved, Redispatch() asks the kernel for the thread's CPU time once and says
// how much of the interval was ours.
//
// Owner: the thread that called Open; nobody else may call anything here. Nothing throws or
// allocates. No descriptor is kept: the mapping alone keeps the event alive.
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

  // For the calling thread. False: no event could be opened (errno tells); then time is wall clock
  // and Dispatched() is always false. `ticks_per_ns` from MeasureTicksPerSecond.
  bool Open(double ticks_per_ns);
  void Close();
  bool virtualised() const { return page_ != nullptr; }

  // Was the thread scheduled in since the last Redispatch (or Open)?
  bool Dispatched() const { return __atomic_load_n(lock_, __ATOMIC_RELAXED) != seen_; }

  // For the fast path, which keeps its own copy.
  const uint32_t* lock() const { return lock_; }
  uint32_t seen() const { return seen_; }

  struct Redispatched {
    int64_t now;  // ReadTsc() with no dispatch after it
    int64_t
        elapsed;  // on-CPU ticks between `last` and `now`; may be slightly negative (two clocks)
    uint32_t dispatches;  // how often it was scheduled in since
  };
  // `last`: the ReadTsc() value up to which time has been taken; no dispatch lay between the call
  // before and it.
  Redispatched Redispatch(int64_t last);

  // Starts counting from here: whatever was dispatched before does not matter. Answers ReadTsc() of
  // that moment.
  int64_t Restart();

  // The kernel's CPU time of the calling thread, ns.
  static int64_t CpuNanos();
  // Of any thread of this process; nothing if it is gone.
  static std::optional<int64_t> CpuNanosOf(uint32_t tid);

 private:
  // Both clocks read with no dispatch between; also moves the anchor there. Answers the TSC just
  // before.
  int64_t Anchor();

  void* page_ = nullptr;
  const uint32_t* lock_ = &kNeverMoves;
  uint32_t seen_ = 0;
  double ticks_per_ns_ = 1;
  // At the last anchor: TSC and CPU time read together. On-CPU time of an interval that holds
  // dispatches = CPU time since the anchor - what was on CPU between the anchor and `last`.
  int64_t anchor_tsc_ = 0;
  int64_t anchor_cpu_ns_ = 0;
  static const uint32_t kNeverMoves;
};

// TSC ticks per second against CLOCK_MONOTONIC_RAW, over about `milliseconds` of waiting.
double MeasureTicksPerSecond(int milliseconds);

// Mean cost of one ReadTsc() among others, ticks; what a bracket with nothing in it sees; and the
// step in which the TSC moves.
double MeasureReadTicks();
double MeasureBracketTicks();
int64_t MeasureGranularity();

}  // namespace jprof::ptm
