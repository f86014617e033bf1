// The sampling state of one thread. Owner: the thread. `idle` belongs to the background thread,
// which also adds to `requested`. It is freed together with the engine's Thread, so a caller that
// may use the Thread (Session::Hold) may use it.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "common/spin_lock.h"
#include "jprof/agent/cpu_coverage.h"
#include "jprof/agent/idle_account.h"
#include "jprof/agent/sample_gate.h"
#include "jprof/engine/thread.h"
#include "jprof/hotspot/stack_walker.h"
#include "options/triggers.h"
#include "ptm/thread_timer.h"

namespace jprof::agent {

inline constexpr uint32_t kMostFrames = hotspot::LastStack::kMostFrames;
inline constexpr uint32_t kMostKernelFrames = 128;
inline constexpr size_t kMostTriggers = 8;
inline constexpr size_t kMostVirtualRows = 64;

// A row of the profile for the virtual threads of one name that ran on a native thread, or for the
// native thread while it had one name.
struct VirtualRow {
  const char* name = nullptr;  // null: virtual threads without a name
  bool used = false;
  engine::Timeline timeline;  // has no record if there was no space for it
};

// Allocated in its own zeroed pages; the pages of `frames` are not touched before the first walk.
struct SampledThread final : engine::ThreadExtension {
  SampledThread() {}
  void Release() override {
    this->~SampledThread();
    munmap(this, sizeof *this);
  }

  SpinLock timers_lock;  // held to start, stop and close the timers, and to update `coverage`
  ptm::ThreadTimer timers[kMostTriggers];
  CpuCoverage coverage;
  std::atomic<bool> ended = false;  // the thread is no longer sampled
  SampleGate::Passage passage;
  unwind::StackBounds stack;
  VirtualRow virtual_rows[kMostVirtualRows];  // the last one has all names without a row
  char own_names[kMostVirtualRows - 1][16];   // names that the thread had when it was sampled
  // Until this time (of the time stamp counter) timer samples are deferred; the deferred periods of
  // each timer are added to its next sample.
  int64_t defer_until = 0;
  int64_t deferred[kMostTriggers] = {};
  // By trigger: events so far, and the start of the event that is being timed.
  uint64_t events[kMostTriggers] = {};
  uint64_t since_ns[kMostTriggers] = {};
  // By trigger: the number of ticks that the next requested sample represents.
  std::atomic<uint32_t> requested[kMostTriggers] = {};
  IdleAccount idle[kMostTriggers];
  // One sample: the method references below the walked frames, innermost first.
  uint32_t leaves[kMostKernelFrames + 2];
  uint64_t kernel[kMostKernelFrames];
  hotspot::LastStack last;  // for signals; the `context` of a frame is its node
  // The timeline of the nodes in `last`, and Thread::forgets when they were recorded.
  const engine::Timeline* last_timeline = nullptr;
  bool last_folded = false;
  uint32_t last_forgets = 0;
  union {
    hotspot::StackFrame frames[kMostFrames];  // for callbacks
  };
};

// Converts the engine's ThreadExtension. Null: the thread is not, or no longer, sampled.
inline SampledThread* SampledThreadOf(const engine::Thread& thread) {
  auto* sampled = static_cast<SampledThread*>(thread.extension.load());
  return sampled != nullptr && !sampled->ended ? sampled : nullptr;
}
// For the calling thread.
inline SampledThread* CurrentSampledThread() {
  const engine::Thread* thread = engine::current_thread;
  return thread != nullptr ? SampledThreadOf(*thread) : nullptr;
}

}  // namespace jprof::agent
