// What callstack sampling keeps for one thread: its timers, where its stack lies, room for one
// walk. Owner: the thread. `cpu_ns` and `owed_ns` belong to the sampling thread, which adds to
// `due`, too. It is given back with the engine's Thread, so whoever looks at that (Session::Hold)
// may look at this.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "common/spin_lock.h"
#include "jprof/agent/sample_gate.h"
#include "jprof/engine/thread.h"
#include "jprof/hotspot/stack_walker.h"
#include "options/triggers.h"
#include "ptm/thread_sampler.h"

namespace jprof::agent {

inline constexpr uint32_t kMostFrames = hotspot::LastStack::kMostFrames;
inline constexpr uint32_t kMostKernelFrames = 128;
inline constexpr size_t kMostTriggers = 8;
inline constexpr size_t kMostVirtualRows = 64;

// Made in zeroed pages; `frames` is not touched before there is a walk that needs it.
struct SampledThread final : engine::ThreadExtension {
  SampledThread() {}
  void GiveBack() override {
    this->~SampledThread();
    munmap(this, sizeof *this);
  }

  SpinLock timers_lock;  // held to start, stop and close them: a few system calls
  ptm::ThreadSampler timers[kMostTriggers];
  std::atomic<bool> ended = false;  // it is not sampled any more
  SampleGate::Passage passage;
  unwind::StackBounds stack;
  // Rows of virtual threads that run on it, by name (null: those without); the last takes what
  // finds no room.
  struct VirtualRow {
    const char* name = nullptr;
    bool used = false;
    engine::Timeline timeline;  // no record: there was no room
  };
  VirtualRow virtual_rows[kMostVirtualRows];
  // By the time stamp counter: until then the timers' samples are put off; how many periods of each
  // were.
  int64_t rest_until = 0;
  int64_t put_off[kMostTriggers] = {};
  // Triggers that count to N, or time something.
  uint64_t seen[kMostTriggers] = {};
  uint64_t since_ns[kMostTriggers] = {};
  // Ticks of the sampling thread that the next sample will stand for, by trigger.
  std::atomic<uint32_t> due[kMostTriggers] = {};
  uint64_t cpu_ns[kMostTriggers] = {};  // at its last tick
  int64_t owed_ns[kMostTriggers] = {};  // not asked for yet; below 0: ran before its time
  uint32_t start[kMostTriggers] = {};   // of sampling, that this counts from
  // One sample: what stands below the walked frames, innermost first.
  uint32_t words[kMostKernelFrames + 2];
  uint64_t kernel[kMostKernelFrames];
  hotspot::LastStack last;  // of signals; `context` of a frame: its node
  // What these nodes are of, and when the methods were last forgotten.
  const engine::Timeline* last_timeline = nullptr;
  bool last_folded = false;
  uint32_t last_forgets = 0;
  union {
    hotspot::StackFrame frames[kMostFrames];  // of callbacks
  };
};

}  // namespace jprof::agent
