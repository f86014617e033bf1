// Holds the sampling state of one thread, which owns it. `idle` belongs to the background thread,
// which also adds to `requested`. The state is freed together with the engine's Thread, so a caller
// that may use the Thread (ThreadRegistry::Hold) may use it.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "common/spin_lock.h"
#include "jprof/agent/sampling/cpu_coverage.h"
#include "jprof/agent/sampling/idle_account.h"
#include "jprof/agent/sampling/sample_gate.h"
#include "jprof/agent/sampling/walk_pause.h"
#include "jprof/agent/vm/event_sink.h"
#include "jprof/engine/thread.h"
#include "jprof/hotspot/walk/stack_walker.h"
#include "options/triggers.h"
#include "ptm/thread_timer.h"

namespace jprof::agent {

inline constexpr uint32_t kMostFrames = hotspot::LastStack::kMostFrames;
inline constexpr uint32_t kMostKernelFrames = 128;
inline constexpr size_t kMostTriggers = EventSink::kMostMetrics;
inline constexpr size_t kMostVirtualRows = 64;

// A row of the profile for the virtual threads of one name that ran on a native thread, or for the
// native thread while it had one name.
struct VirtualRow {
  const char* name = nullptr;  // null for virtual threads without a name
  bool used = false;
  engine::Timeline timeline;  // has no record if there was no space for it
};

// It is allocated in its own zeroed pages, and the pages of `frames` are not touched before the
// first walk.
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
  SamplesInProgress in_progress;
  unwind::StackBounds stack;
  VirtualRow virtual_rows[kMostVirtualRows];  // the last one contains all names without a row
  char own_names[kMostVirtualRows - 1][16];   // names that the thread had when it was sampled
  WalkPause pause;
  // The periods that ended in a pause, by timer. They are added to the timer's next sample.
  int64_t deferred[kMostTriggers] = {};
  EventSink::ThreadEvents events;  // by trigger
  // The number of ticks that the next requested sample represents, by trigger.
  std::atomic<uint32_t> requested[kMostTriggers] = {};
  IdleAccount idle[kMostTriggers];
  // The method references below the walked frames of one sample, innermost first.
  profile::MethodRef leaves[kMostKernelFrames + 2];
  uint64_t kernel[kMostKernelFrames];
  hotspot::LastStack last;  // for signals; the `context` of a frame is its node
  // The timeline of the nodes in `last`, with Timeline::folded and Thread::forgets at that time.
  const engine::Timeline* last_timeline = nullptr;
  bool last_folded = false;
  uint32_t last_forgets = 0;
  union {
    hotspot::StackFrame frames[kMostFrames];  // for callbacks
  };
};

// Returns the sampling state of a thread, or null if it is not, or no longer, sampled.
inline SampledThread* SampledThreadOf(const engine::Thread& thread) {
  auto* sampled = static_cast<SampledThread*>(thread.extension.load());
  return sampled != nullptr && !sampled->ended ? sampled : nullptr;
}
// Returns the sampling state of the calling thread, or null if it is not sampled.
inline SampledThread* CurrentSampledThread() {
  const engine::Thread* thread = engine::current_thread;
  return thread != nullptr ? SampledThreadOf(*thread) : nullptr;
}

}  // namespace jprof::agent
