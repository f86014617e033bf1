// Keeps in the trace what belongs to slow calls (`jprof trace --slow`): each thread writes into its
// ring, and when a call of a watched method has lasted as long as was asked, the ring's blocks from
// the one before that of its entry on are marked and taken out of the ring. All others are
// overwritten. A list of these calls is in the file `slow_calls` (profile/files/slow_call.h).
//
// Entries and exits of watched methods leave the fast path because it does not find them in the
// cache of methods (MethodCache). A trace has no shadow stack. The open calls of watched methods
// are in a small stack of the timeline; one that was left without an exit is ended when a call of
// a watched method begins at or above its stack pointer, or an outer one ends. How long it took is
// not known, so that it is only counted.
//
// The functions below are for slow paths, and only the thread itself may call them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/frame_kind.h"
#include "jprof/engine/method_table.h"
#include "jprof/engine/session_options.h"
#include "jprof/engine/thread.h"
#include "jprof/engine/trace_blocks.h"
#include "profile/files/slow_call.h"
#include "profile/files/writer.h"

namespace jprof::engine {

// The greatest number of items of SLOW.
inline constexpr size_t kMostSlowItems = 16;

// A call of a watched method that has not ended, and the state after its entry was recorded.
struct OpenCall {
  profile::MethodRef method{};
  uint64_t sp = 0;           // at its entry probe, or ~0 if it is not known
  int64_t entered = 0;       // the raw clock
  int64_t off_cpu = 0;       // Progress::off_cpu
  int64_t value = 0;         // Timeline::trace_value
  uint64_t first_event = 0;  // the number of its entry
  uint64_t sequence = 0;     // of the block with its entry
  uint64_t dropped = 0;      // ThreadRecord::trace_dropped
};

// The open calls of a timeline, outermost first.
struct OpenCalls {
  OpenCall* calls = nullptr;
  uint32_t depth = 0;
  uint32_t capacity = 0;
  int64_t waited = 0;  // Progress::off_cpu up to the last wait that was written
  profile::SlowCounts* counts[kMostSlowItems] = {};  // by item; null before the first call
};

class SlowCalls {
 public:
  SlowCalls(profile::Writer& writer, const MethodTable& methods, TraceBlocks& trace,
            const SessionOptions& options)
      : writer_(writer), methods_(methods), trace_(trace), options_(options) {}

  // Computes how long slow calls last. Call it once, when the header has the clock's rate.
  void Start();

  // Writes into the trace how long the thread has not run inside the innermost watched call since
  // the event before. It does nothing if there is no such call. If the block may be full, it takes
  // the next one.
  void WriteWait(Thread& thread);
  // Begins or ends a call at an event that was recorded at `now` or had no space in the trace. It
  // does nothing if the method is not watched.
  void OnEvent(Thread& thread, profile::MethodRef method, EventKind kind, uint64_t sp, int64_t now);

  // Ends the open calls of the current timeline, whose exits are not recorded.
  void Abandon(Thread& thread);

 private:
  void Begin(Thread& thread, OpenCalls& open, const OpenCall& call);
  void End(Thread& thread, OpenCalls& open, profile::MethodRef method, int64_t now);
  void CountUnended(Thread& thread, OpenCalls& open);
  void Keep(Thread& thread, const OpenCall& call, profile::SlowCall ended);
  bool KeepBlocks(Thread& thread, const OpenCall& call);
  profile::SlowCounts* CountsOf(Thread& thread, OpenCalls& open, profile::MethodRef method);

  profile::Writer& writer_;
  const MethodTable& methods_;
  TraceBlocks& trace_;
  const SessionOptions& options_;
  int64_t slow_ticks_[kMostSlowItems] = {};
  uint64_t kept_bytes_ = 0;  // all threads change it atomically
};

// Returns whether a timeline has watched calls that have not ended.
inline bool HasOpenCalls(const Timeline& timeline) {
  return timeline.open_calls != nullptr && timeline.open_calls->depth != 0;
}
// Makes no stack pointer end the open calls, because their frames move to another stack.
void ForgetStackPointers(const Timeline& timeline);
// Frees the memory of the open calls.
void FreeOpenCalls(const Timeline& timeline);

}  // namespace jprof::engine
