// What events do at the gates of a session (gate.h). The state belongs to the timeline: it moves
// with a virtual thread.
//
// - The outermost recorded call of a gate has kGateBit in its frame: when this ends, also without
//   an exit, the thread is outside.
// - An outermost call that is not recorded (the first ones, with gate_after) has an open frame with
//   kGateBit, and so has each call of a gate inside of it.
// - A trace has no frames but those of gates, which are open.
//
// The time and the dispatches of a thread that is outside are attributed to nothing. Only the
// thread itself may call these functions.
#pragma once

#include <cstdint>

#include "jprof/engine/event.h"
#include "jprof/engine/method_cache.h"
#include "jprof/engine/shadow_stack.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

// Returns whether an event of the calling thread is outside and changes nothing, so that it can
// return at once. Of the other events nothing is known.
template <class Frames, EventKind kKind>
[[gnu::always_inline]] inline bool IsOff(const Event& event) {
  const Thread* const thread = current_thread;
  if (thread == nullptr) return false;
  const uint32_t attention = AttentionOf(*thread);
  if (attention == 0) [[likely]]
    return false;
  if (attention != kOutside && (attention & ~kOutside) != kPaused) return false;
  if (!Frames::IsCurrent(event, *thread)) return false;
  if (attention != kOutside) return true;
  if constexpr (kKind == EventKind::kEntry) return FindCached(*thread, event.method) != nullptr;
  // An exit above the frame of a gate that is not recorded may be that of an outer one.
  const Frame& top = thread->cursor.top[-1];
  return MethodOf(top) != event.method && event.sp <= top.sp;
}

// Drops the time, the dispatches and the counts since the last event.
void DropInterval(Thread& thread);
// Does the same at an event whose early clock read is `now`.
void DropIntervalAt(Thread& thread, int64_t* now);

// Handles kResume: drops the time for which the thread was paused, and makes it record again unless
// the session is paused.
void Resume(Thread& thread);
// Empties the stack of the current timeline, whose calls end without being seen.
void ForgetCalls(Thread& thread);
// Returns whether a thread records, after it has followed the changes of Gate::run: its stack is
// empty then, because calls may have ended while it was paused.
bool FollowsRun(Thread& thread);

enum class AtGate : uint8_t {
  kOutside,  // the event is not recorded
  kInside,
  kBegins,  // an outermost call of a gate begins, which is recorded
};
// Returns what to do with an entry of a session with gates. `has_frames` is false in a trace. With
// kBegins, call BeginGate when its frame is on the stack.
AtGate GateOfEntry(Thread& thread, const Event& event, profile::MethodRef method, bool has_frames,
                   int64_t* now);
void BeginGate(Thread& thread);
// Does the same in a trace, and pushes the frame. Returns false, and does nothing, if there is no
// memory.
bool BeginGateOfTrace(Thread& thread, const Event& event);

// Returns whether an exit is recorded.
bool RecordsExit(Thread& thread, const Event& event);
// Ends the call of a gate in a trace, after its exit was recorded.
void EndGateOfTrace(Thread& thread, const Event& event);

// Returns whether a frame is that of a gate's call.
inline bool IsGate(const Frame& frame) { return (frame.method & kGateBit) != 0; }
// Puts the thread outside if it is inside. Call this when a frame with IsGate ends.
void EndGate(Thread& thread);

}  // namespace jprof::engine
