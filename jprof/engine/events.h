// Handles method entries and exits: the hot path of the profiler. See docs/ARCHITECTURE.md.
//
// - The fast path decides everything before it changes anything. If a condition does not hold
//   (first event of a thread, a dispatch, a new context, a newly compiled method, a full stack), it
//   leaves by a tail call to the general version in events.cc, which performs the whole event.
// - One event in EventTiming::period is timed: it goes through a copy of this path between two
//   fenced clock reads, which measure its cost. (Cache misses of a large tree vary a lot.)
// - The fast path has no call, no lock prefix and no division. It takes about 30 instructions and,
//   with time, one clock read.
// - It runs in a leaf probe on the thread itself: no allocation, no VM call, no exception.
//
// Recording is a kind of recording (recording.h). Frames is what is known about frames: JavaFrames
// (event.h) or those of functions (function_events.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "jprof/engine/child_slots.h"
#include "jprof/engine/event.h"
#include "jprof/engine/event_values.h"
#include "jprof/engine/gate/gated_events.h"
#include "jprof/engine/method_cache.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/recording.h"
#include "jprof/engine/sparse/intervals.h"
#include "jprof/engine/thread.h"
#include "jprof/engine/timed_events.h"

namespace jprof::engine {
namespace internal {

// Handles an event by the general version. It depends on Frames only so that a file that is
// compiled without vector registers does not share its copy with others.
template <class Recording, class Frames, EventKind kKind>
[[gnu::noinline, gnu::cold]] int HandleCold(uint64_t method, uint64_t sp, uint64_t return_address,
                                            uint64_t continuation, uint64_t vm_thread,
                                            int64_t now) {
  const Event event = {method, sp, return_address, continuation, vm_thread};
  if (IsOff<Frames, kKind>(event)) return 0;
  if (Recording::kSparse && now == 0) now = ptm::ReadTsc();
  const RareWork work;
  if (!work.acquired())
    DropEvent();
  else if constexpr (kKind == EventKind::kEntry)
    EnterSlow<Recording>(event, now);
  else
    LeaveSlow<Recording>(event, now);
  return 0;
}

// Leaves the fast path: has a cold function handle the event.
template <class Frames>
[[gnu::always_inline]] inline int LeaveFastPath(ColdFunction function, const Event& event,
                                                const Thread* thread, int64_t now) {
  return Frames::Call(function, Frames::WithMountedThread(event, thread), now);
}

// Begins an event. Returns false if the event is not for the fast path. Counters are read as soon
// as there is a thread to read them into, also for the general version.
template <class Recording, class Frames>
[[gnu::always_inline]] inline bool Begin(Thread* thread, const Event& event) {
  if (thread == nullptr || AttentionOf(*thread) != 0) [[unlikely]]
    return false;
  ReadCounters<Recording>(thread);
  if (Recording::kClock &&
      __atomic_load_n(thread->page_lock, __ATOMIC_RELAXED) != thread->page_seen) [[unlikely]]
    return false;
  return Frames::IsCurrent(event, *thread) && !TraceIsFull<Recording>(thread) &&
         !TrainIsFull<Recording>(thread);
}

// The functions below record an event after Begin. They return false, and have changed nothing, if
// it is not for the fast path.

// Writes an event into the trace, unless a signal handler has written later ones.
template <class Frames, EventKind kKind>
[[gnu::always_inline]] inline bool WriteTrace(Thread* thread, const Event& event, int64_t now) {
  const CachedMethod* cached = FindCached(*thread, event.method);
  if (cached == nullptr) [[unlikely]]
    return false;
  if (kKind == EventKind::kEntry &&
      cached->return_address != static_cast<uint32_t>(event.return_address)) [[unlikely]]
    return false;
  const int64_t delta = now - thread->last;
  if (Frames::kInterrupted && delta < 0) [[unlikely]]
    return false;
  if (profile::MethodOf(cached->ref) != kIgnoredMethod) [[likely]] {
    Trace(thread, cached->ref, kKind, delta);
    thread->last = now;
  }
  return true;
}

// Does the same. While the event is being written, the block appears to be full, so that a handler
// that interrupts this leaves the fast path, and its events are dropped.
template <class Frames, EventKind kKind>
[[gnu::always_inline]] inline bool TraceFast(Thread* thread, const Event& event, int64_t now) {
  if constexpr (!Frames::kInterrupted) return WriteTrace<Frames, kKind>(thread, event, now);
  uint8_t* const end = thread->cursor.trace_end;
  SetTraceEnd(*thread, nullptr);
  const bool written = WriteTrace<Frames, kKind>(thread, event, now);
  if (!written) [[unlikely]] {
    StopWritingTrace(*thread);  // in a new block, if a handler has filled the one with this end
    return false;
  }
  SetTraceEnd(*thread, end);
  return true;
}

// Makes the compiler read again what a signal handler may change between two steps of an event.
template <class Frames>
[[gnu::always_inline]] inline void MayBeInterrupted() {
  if constexpr (Frames::kInterrupted) std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Returns false if a signal handler may have replaced the method before its reference was read.
// Call this after reading the reference.
template <class Frames>
[[gnu::always_inline]] inline bool IsStill(const CachedMethod& cached, uint64_t method) {
  MayBeInterrupted<Frames>();
  return !Frames::kInterrupted || cached.method == method;
}

// Increments a counter of a node. This takes a single instruction, where there is one, if a signal
// handler may count there.
template <class Frames>
[[gnu::always_inline]] inline void Increment(uint32_t* count) {
  MayBeInterrupted<Frames>();
  ++*count;
}

// Pushes a frame. A handler that interrupts this uses the same place, so the frame is written again
// when no handler can write there.
template <class Frames>
[[gnu::always_inline]] inline void Push(Thread* thread, Frame* top, const Frame& frame) {
  *top = frame;
  MayBeInterrupted<Frames>();
  thread->cursor.top = top + 1;
  MayBeInterrupted<Frames>();
  if constexpr (Frames::kInterrupted) *top = frame;
}

// Attributes the time and the counts since the last event to `node`. The event changes to `to`.
template <class Recording, EventKind kKind>
[[gnu::always_inline]] inline void Attribute(Thread* thread, profile::Node* node,
                                             profile::MethodRef to, int64_t now) {
  if constexpr (Recording::kSparse) {
    if (now != 0) EndInterval(*thread, node, now);
  } else if constexpr (Recording::kClock) {
    const int64_t delta = now - thread->last;
    node->self += delta;
    thread->last = now;
    if constexpr (Recording::kTrain) Train(thread, delta, node->ref, to, kKind);
  }
  AttributeCounters<Recording>(thread, node);
  TrainCounters<Recording>(thread, node->ref, to, kKind);
}

// Records an entry in the tree. Sets `counted`, if `Recording` asks for it, to what it has
// incremented.
template <class Recording, class Frames>
[[gnu::always_inline]] inline bool EnterFast(Thread* thread, const Event& event, int64_t now,
                                             const uint32_t** counted) {
  const CachedMethod* cached = FindCached(*thread, event.method);
  if (cached == nullptr || cached->return_address != static_cast<uint32_t>(event.return_address))
      [[unlikely]]
    return false;
  const profile::MethodRef ref = cached->ref;
  if (!IsStill<Frames>(*cached, event.method)) [[unlikely]]
    return false;

  Frame* top = thread->cursor.top;
  if (top == thread->cursor.limit || !Frames::IsCallee(event.sp, top[-1])) [[unlikely]]
    return false;
  profile::Node* parent = top[-1].node;
  uint32_t index;
  if (!NearChild(*parent, profile::MethodOf(ref), &index) &&
      !BlockChild(*thread, *parent, profile::MethodOf(ref), &index)) [[unlikely]]
    return false;
  profile::Node* node = thread->nodes + index;
  uint32_t* count = &node->entries[thread->cursor.previous];
  if (node->ref != ref || static_cast<int32_t>(*count) < 0) [[unlikely]]
    return false;

  Attribute<Recording, EventKind::kEntry>(thread, parent, ref, now);
  Increment<Frames>(count);
  Push<Frames>(thread, top, {event.method, event.sp, node});
  thread->cursor.previous = static_cast<uint32_t>(EventKind::kEntry);
  if constexpr (Recording::kSparse) *counted = count;
  ReadLate<Recording>(thread, now);
  return true;
}

// Does the same for an exit.
template <class Recording, class Frames>
[[gnu::always_inline]] inline bool LeaveFast(Thread* thread, const Event& event, int64_t now,
                                             const uint32_t** counted) {
  Frame* frame = thread->cursor.top - 1;
  if (frame->method != event.method) [[unlikely]]
    return false;
  profile::Node* node = frame->node;
  uint32_t* count = &node->exits[thread->cursor.previous];
  if (static_cast<int32_t>(*count) < 0) [[unlikely]]
    return false;

  Attribute<Recording, EventKind::kExit>(thread, node, frame[-1].node->ref, now);
  Increment<Frames>(count);
  thread->cursor.top = frame;
  thread->cursor.previous = static_cast<uint32_t>(EventKind::kExit);
  if constexpr (Recording::kSparse) *counted = count;
  ReadLate<Recording>(thread, now);
  return true;
}

// Records an event in the trace or the tree.
template <class Recording, class Frames, EventKind kKind>
[[gnu::always_inline]] inline bool RecordFast(Thread* thread, const Event& event, int64_t now,
                                              const uint32_t** counted = nullptr) {
  if constexpr (Recording::kTrace) return TraceFast<Frames, kKind>(thread, event, now);
  if constexpr (kKind == EventKind::kEntry)
    return EnterFast<Recording, Frames>(thread, event, now, counted);
  return LeaveFast<Recording, Frames>(thread, event, now, counted);
}

// Handles a timed event: this is a copy of the code that it measures, so that both cost the same.
template <class Recording, class Frames, EventKind kKind>
[[gnu::noinline, gnu::cold]] int HandleTimed(uint64_t method, uint64_t sp, uint64_t return_address,
                                             uint64_t continuation, uint64_t vm_thread,
                                             int64_t now) {
  Thread* thread = current_thread;
  const Event event = {method, sp, return_address, continuation, vm_thread};
  BeforeTimedEvent(thread);
  const int64_t begin = ptm::TimedCodeBegin();
  if (!RecordFast<Recording, Frames, kKind>(thread, event, now)) [[unlikely]]
    LeaveFastPath<Frames>(HandleCold<Recording, Frames, kKind>, event, thread, now);
  AfterTimedEvent(thread, now, ptm::TimedCodeEnd() - begin);
  return 0;
}

// Begins a timed interval after an event of the fast path. `counted` is a pointer.
template <class Frames>
[[gnu::noinline, gnu::cold]] int BeginTimingCold(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                                 int64_t counted) {
  BeginTiming(*current_thread, reinterpret_cast<const uint32_t*>(counted));
  return 0;
}

// Handles an event that ends a timed interval, where only some are timed. Where the next one begins
// at the same reading of the clock, one event in EventTiming::period measures what the tree and the
// decision about the next interval take.
template <class Recording, class Frames, EventKind kKind>
[[gnu::noinline]] int HandleTimedInterval(uint64_t method, uint64_t sp, uint64_t return_address,
                                          uint64_t continuation, uint64_t vm_thread, int64_t) {
  const int64_t now = ptm::ReadTsc();
  Thread* thread = current_thread;
  const Event event = {method, sp, return_address, continuation, vm_thread};
  if (!Begin<Recording, Frames>(thread, event)) [[unlikely]]
    return LeaveFastPath<Frames>(HandleCold<Recording, Frames, kKind>, event, thread, now);
  const bool measures = --thread->until_timed == 0;
  int64_t begin = 0;
  if (measures) [[unlikely]] {
    BeforeTimedEvent(thread);
    begin = ptm::TimedCodeBegin();
  }
  const uint32_t* counted;
  if (!RecordFast<Recording, Frames, kKind>(thread, event, now, &counted)) [[unlikely]]
    return LeaveFastPath<Frames>(HandleCold<Recording, Frames, kKind>, event, thread, now);
  ContinueTiming(*thread, counted);
  const int64_t inside = measures ? ptm::TimedCodeEnd() - begin : 0;
  if (measures && SharesReading(*thread)) AfterTimedEvent(thread, now, inside);
  return 0;
}

// Handles an event that ends an interval which is not timed.
template <class Recording, class Frames, EventKind kKind>
[[gnu::always_inline]] inline int HandleUntimed(Thread* thread, const Event& event) {
  const uint32_t* counted;
  if (thread != nullptr && thread->interval != Interval::kUntimed)
    return LeaveFastPath<Frames>(HandleTimedInterval<Recording, Frames, kKind>, event, thread, 0);
  if (!Begin<Recording, Frames>(thread, event) ||
      !RecordFast<Recording, Frames, kKind>(thread, event, 0, &counted)) [[unlikely]]
    return LeaveFastPath<Frames>(HandleCold<Recording, Frames, kKind>, event, thread, 0);
  if (!IsTimed(*thread, counted)) [[likely]]
    return 0;
  return LeaveFastPath<Frames>(BeginTimingCold<Frames>, event, thread,
                               reinterpret_cast<int64_t>(counted));
}

template <class Recording, class Frames, EventKind kKind>
[[gnu::always_inline]] inline int Handle(const Event& event) {
  Thread* thread = current_thread;
  if constexpr (Recording::kSparse) return HandleUntimed<Recording, Frames, kKind>(thread, event);
  const int64_t now = Recording::kClock ? ptm::ReadTsc() : 0;
  if (Begin<Recording, Frames>(thread, event)) [[likely]] {
    if constexpr (kTimesEvents<Recording>) {
      if (--thread->until_timed == 0) [[unlikely]]
        return LeaveFastPath<Frames>(HandleTimed<Recording, Frames, kKind>, event, thread, now);
    }
    if (RecordFast<Recording, Frames, kKind>(thread, event, now)) [[likely]]
      return 0;
  }
  return LeaveFastPath<Frames>(HandleCold<Recording, Frames, kKind>, event, thread, now);
}

}  // namespace internal

// Returns whether the calling thread is known not to record this method, so that the event can
// be skipped.
[[gnu::always_inline]] inline bool IsIgnored(uint64_t method, uint64_t continuation) {
  const Thread* thread = current_thread;
  if (thread == nullptr || AttentionOf(*thread) != 0 || continuation != thread->continuation)
      [[unlikely]]
    return false;
  const CachedMethod* cached = FindCached(*thread, method);
  return cached != nullptr && profile::MethodOf(cached->ref) == kIgnoredMethod;
}

// Handle a method entry and exit. They are inlined into the probe.
template <class Recording, class Frames = JavaFrames>
[[gnu::always_inline]] inline int Enter(const Event& event) {
  return internal::Handle<Recording, Frames, EventKind::kEntry>(event);
}
// Handles a method entry of a kind with kSites (EnterSlow has the meaning of `site`).
template <class Recording>
int EnterAtSite(const Event& event, uint64_t site);
template <class Recording, class Frames = JavaFrames>
[[gnu::always_inline]] inline int Leave(const Event& event) {
  return internal::Handle<Recording, Frames, EventKind::kExit>(event);
}

}  // namespace jprof::engine
