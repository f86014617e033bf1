// What callstack sampling keeps for one thread. Owner: the thread. `idle` belongs to the background
// thread, which also adds to `requested`. It is freed together with the engine's Thread, so whoever
// may use that (Session::Hold) may use this.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "common/spin_lock.h"
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

// A row of the profile for virtual threads of one name that ran on a native thread.
struct VirtualRow {
  const char* name = nullptr;  // null: virtual threads without a name
  bool used = false;
  engine::Timeline timeline;  // no record: there was no room
};

// Made in zeroed pages of its own; `frames` is not touched before a walk needs it.
struct SampledThread final : engine::ThreadExtension {
  SampledThread() {}
  void Release() override {
    this->~SampledThread();
    munmap(this, sizeof *this);
  }

  SpinLock timers_lock;  // held to start, stop and close them: a few system calls
  ptm::ThreadTimer timers[kMostTriggers];
  std::atomic<bool> ended = false;  // it is not sampled any more
  SampleGate::Passage passage;
  unwind::StackBounds stack;
  VirtualRow virtual_rows[kMostVirtualRows];  // the last one takes all names that find no room
  // Until this time (of the time stamp counter) timer samples are deferred; the deferred periods of
  // each timer are added to its next sample.
  int64_t defer_until = 0;
  int64_t deferred[kMostTriggers] = {};
  // By trigger: events so far, and when the event that is being timed began.
  uint64_t events[kMostTriggers] = {};
  uint64_t since_ns[kMostTriggers] = {};
  // By trigger: how many ticks the next requested sample stands for.
  std::atomic<uint32_t> requested[kMostTriggers] = {};
  IdleAccount idle[kMostTriggers];
  // One sample: the words of what lies below the walked frames, innermost first.
  uint32_t words[kMostKernelFrames + 2];
  uint64_t kernel[kMostKernelFrames];
  hotspot::LastStack last;  // of signals; `context` of a frame: its node
  // Of which timeline the nodes in `last` are, and when the methods were last forgotten.
  const engine::Timeline* last_timeline = nullptr;
  bool last_folded = false;
  uint32_t last_forgets = 0;
  union {
    hotspot::StackFrame frames[kMostFrames];  // of callbacks
  };
};

// The one place that converts what the engine keeps for the agent.
// Null: the thread is not sampled, or not any more.
inline SampledThread* SampledThreadOf(const engine::Thread& thread) {
  auto* sampled = static_cast<SampledThread*>(thread.extension.load());
  return sampled != nullptr && !sampled->ended ? sampled : nullptr;
}
// Of the calling thread.
inline SampledThread* CurrentSampledThread() {
  const engine::Thread* thread = engine::current_thread;
  return thread != nullptr ? SampledThreadOf(*thread) : nullptr;
}

}  // namespace jprof::agent
