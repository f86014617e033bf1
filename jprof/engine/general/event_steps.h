// The steps of the general version of an event (events.cc), including those that the fast path can
// skip. They are for slow paths, on the thread itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "jprof/engine/events.h"
#include "jprof/engine/gate/gated_events.h"
#include "jprof/engine/session.h"
#include "jprof/engine/slow/slow_calls.h"
#include "jprof/engine/sparse/intervals.h"

namespace jprof::engine {

// Returns the session that receives events, or null if there is none.
Session* SessionOfEvents();
// Returns the calling thread's state. Returns null if it has none: its event is lost. `now` becomes
// the time at which the state begins, if it is new.
Thread* AttachedThread(Session& session, int64_t* now);

// Returns whether the thread is recorded, after requests of other threads.
template <class Recording>
bool IsRecorded(Thread& thread) {
  if ((AttentionOf(thread) & ~kRareWork) == 0) return true;
  if (!HandleAttention(thread)) {
    if (thread.record != nullptr) ++thread.record->dropped;
    return false;
  }
  internal::ReadCounters<Recording>(&thread);  // the fast path left before it could do this
  return true;
}

// Attributes the ticks since the last event to `node`.
template <class Recording>
void AttributeTicks(Thread& thread, profile::Node* node, int64_t ticks) {
  if constexpr (Recording::kSparse) {
    EndAnyInterval(thread, node, ticks);
  } else {
    node->self += ticks;
  }
}

// Gives the current timeline what was since its last event, and switches to that of the event.
template <class Recording>
void SwitchTimeline(Thread& thread, const Event& event, int64_t* now) {
  if ((AttentionOf(thread) & (kOutside | kPaused)) != 0) {
    DropIntervalAt(thread, now);
  } else if constexpr (Recording::kClock || internal::kCounts<Recording>) {
    profile::Node* const node = thread.cursor.top[-1].node;
    if constexpr (Recording::kClock) {
      AttributeTicks<Recording>(thread, node, TakeTime(thread, now).ticks);
      thread.last = *now;
    }
    internal::AttributeCounters<Recording>(&thread, node);
    if constexpr (internal::kCounts<Recording>) thread.counting.BeginAgain();
  }
  thread.session->timelines().Switch(thread, event.continuation, event.vm_thread);
}

// The state to record an event into.
struct Current {
  Thread* thread = nullptr;
  bool switched = false;  // to another timeline by this event, whose handler is timed alone then
};

// Returns the state, on the stack and tree of the mounted virtual thread, or of the carrier itself.
// Its thread is null if the event is not recorded (and has been counted).
template <class Recording>
Current ThreadForEvent(const Event& event, int64_t* now) {
  Session* const session = SessionOfEvents();
  if (session == nullptr) return {};  // the recording has ended: hooks remain
  Thread* const thread = AttachedThread(*session, now);
  if (thread == nullptr || !IsRecorded<Recording>(*thread)) return {};
  const bool switches = event.continuation != thread->continuation;
  if (switches) SwitchTimeline<Recording>(*thread, event, now);
  return {FollowsRun(*thread) ? thread : nullptr, switches};
}

// Attributes the time and dispatches since the last event to the current node. An event that has
// switched ends no interval of its timeline; like a dispatch, it is not comparable to others.
template <class Recording>
Elapsed AttributeInterval(const Current& current, int64_t* now) {
  Thread& thread = *current.thread;
  Elapsed elapsed = {0, current.switched};
  profile::Node* const node = thread.cursor.top[-1].node;
  if constexpr (Recording::kClock) {
    elapsed = TakeTime(thread, now);
    elapsed.dispatched |= current.switched;
    AttributeTicks<Recording>(thread, node, elapsed.ticks);
    thread.last = *now;
    // The fast path left before it counted this event, unless the dispatch was inside the handler.
    if (elapsed.dispatched) ++thread.progress.events;
  }
  internal::AttributeCounters<Recording>(&thread, node);
  return elapsed;
}

template <class Recording>
void EndSlow(Thread& thread, int64_t now, bool exact) {
  if constexpr (internal::kCounts<Recording>) {
    internal::ReadLate<Recording>(&thread, now);
  } else if constexpr (Recording::kClock) {
    if (exact || Recording::kSparse) EndTimedEvent(thread, now);
  }
}

// Ends an event that is not recorded.
template <class Recording>
void EndIgnored(const Current& current, int64_t now) {
  if (!current.switched) return;
  AttributeInterval<Recording>(current, &now);
  EndSlow<Recording>(*current.thread, now, true);
}

// Writes an event into the trace.
template <class Recording>
void TraceSlow(Thread& thread, profile::MethodRef ref, EventKind kind, uint64_t sp, int64_t now) {
  SlowCalls& slow = thread.session->slow();
  // It may be the first event of a virtual thread that was mounted again.
  if (profile::MethodOf(ref) == kIgnoredMethod) return slow.WriteWait(thread);
  const bool full = internal::TraceIsFull<Recording>(&thread);
  if (full && !thread.session->trace().Next(thread)) {
    ++thread.timeline.record->trace_dropped;
    slow.OnEvent(thread, ref, kind, sp, now);
    return;  // `last` is unchanged: the next recorded event gets the whole time
  }
  now = std::max(now, thread.last);  // a signal handler's events may be in the trace already
  const Elapsed elapsed = TakeTime(thread, &now);
  slow.WriteWait(thread);
  internal::Trace(&thread, ref, kind, elapsed.ticks);
  thread.last = now;
  slow.OnEvent(thread, ref, kind, sp, now);
  EndTimedEvent(thread, now);
}

}  // namespace jprof::engine
