#include "jprof/engine/gate/gated_events.h"

#include <algorithm>

#include "jprof/engine/function_events.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/session.h"
#include "ptm/tsc.h"

namespace jprof::engine {
namespace {

bool IsOutside(const Thread& thread) { return thread.timeline.outside; }

void SetTimelineOutside(Thread& thread, bool outside) {
  thread.timeline.outside = outside;
  SetOutside(thread, outside);
}

// Returns the frame of the recorded call of a gate, or null if there is none. Below it there are at
// most functions that were open when the recording began.
Frame* GateFrame(const Thread& thread) {
  Frame* frame = thread.timeline.frames + 1;
  while (frame != thread.cursor.top && !IsGate(*frame)) ++frame;
  return frame != thread.cursor.top ? frame : nullptr;
}

// Ends the recorded call of a gate that no longer exists at the event's stack pointer.
void HealGate(Thread& thread, const Event& event) {
  const Frame* const gate = GateFrame(thread);
  const uint64_t sp = HealingPoint(event);
  if (event.sp != kNoStack && gate != nullptr && IsGone(*gate, sp)) Heal(thread, sp);
}

// Pushes the frame of a call whose entry and exit are not counted. Returns false if there is no
// memory.
bool PushUncounted(Thread& thread, const Event& event, uint64_t mark) {
  if (thread.cursor.top == thread.cursor.limit && !GrowFrames(thread)) return false;
  *thread.cursor.top = {event.method | mark, event.sp != kNoStack ? event.sp : ~uint64_t{0},
                        thread.timeline.frames->node};
  ++thread.cursor.top;
  return true;
}

}  // namespace

void DropInterval(Thread& thread) {
  int64_t now = thread.session->options().clock ? ptm::ReadTsc() : 0;
  DropIntervalAt(thread, &now);
}

void DropIntervalAt(Thread& thread, int64_t* now) {
  thread.counting.BeginAgain();
  if (!thread.session->options().clock) return;
  if (__atomic_load_n(thread.page_lock, __ATOMIC_RELAXED) != thread.page_seen) {
    *now = thread.clock.Restart();
    thread.page_seen = thread.clock.seen();
  }
  thread.last = *now;
}

// Another thread may stop the session meanwhile: either it is found paused here, or that thread
// sets the bit after it was cleared.
void Resume(Thread& thread) {
  __atomic_fetch_and(&thread.attention, ~uint32_t{kPaused | kResume}, __ATOMIC_SEQ_CST);
  if (thread.session->gate().paused())
    __atomic_fetch_or(&thread.attention, uint32_t{kPaused}, __ATOMIC_SEQ_CST);
  DropInterval(thread);
}

void ForgetCalls(Thread& thread) {
  thread.timeline.watched_depth = 0;
  thread.session->slow().Abandon(thread);
  thread.cursor.top = thread.timeline.frames + 1;
  SetTimelineOutside(thread, thread.session->gate().has_methods());
}

bool FollowsRun(Thread& thread) {
  if (const uint32_t run = thread.session->gate().run(); thread.timeline.run != run) {
    thread.timeline.run = run;
    ForgetCalls(thread);
  }
  return (AttentionOf(thread) & kPaused) == 0;
}

AtGate GateOfEntry(Thread& thread, const Event& event, profile::MethodRef method, bool has_frames,
                   int64_t* now) {
  Gate& gate = thread.session->gate();
  const bool is_gate = gate.IsGate(profile::MethodOf(method));
  if (!IsOutside(thread)) HealGate(thread, event);
  if (!IsOutside(thread)) {
    if (is_gate && !has_frames) PushUncounted(thread, event, kOpenBit);
    return AtGate::kInside;
  }
  if (!is_gate) return AtGate::kOutside;
  if (event.sp != kNoStack) Heal(thread, HealingPoint(event));  // calls that are not recorded
  if (IsGate(thread.cursor.top[-1]) || !gate.TakeCall()) {
    PushUncounted(thread, event, kOpenBit | kGateBit);
    return AtGate::kOutside;
  }
  DropIntervalAt(thread, now);
  return AtGate::kBegins;
}

void BeginGate(Thread& thread) { SetTimelineOutside(thread, false); }

bool BeginGateOfTrace(Thread& thread, const Event& event) {
  if (!PushUncounted(thread, event, kOpenBit | kGateBit)) return false;
  BeginGate(thread);
  return true;
}

bool RecordsExit(Thread& thread, const Event& event) {
  if (!IsOutside(thread) && FrameOf(thread, event.method) == nullptr) HealGate(thread, event);
  if (!IsOutside(thread)) return true;
  Frame* const frame = FrameOf(thread, event.method);
  if (frame == nullptr || !IsGate(*frame)) return false;
  EndFramesAbove(thread, frame);
  thread.cursor.top = frame;
  return false;
}

void EndGateOfTrace(Thread& thread, const Event& event) {
  Frame* const frame = FrameOf(thread, event.method);
  if (frame == nullptr) return;
  const bool ends = GateFrame(thread) >= frame;
  thread.cursor.top = frame;
  if (ends) EndGate(thread);
}

void EndGate(Thread& thread) {
  if (!IsOutside(thread)) SetTimelineOutside(thread, true);
}

}  // namespace jprof::engine
