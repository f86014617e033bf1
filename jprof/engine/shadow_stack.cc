#include "jprof/engine/shadow_stack.h"

#include <algorithm>

#include "common/mapped_memory.h"
#include "jprof/engine/function_events.h"
#include "jprof/engine/gate/gated_events.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/session.h"
#include "jprof/engine/thread_memory.h"
#include "jprof/engine/tree.h"
#include "jprof/engine/watched/watched_calls.h"

namespace jprof::engine {
namespace {

// A frame may be this far above its recorded stack pointer and still exist: on-stack replacement
// replaces an interpreted frame by a smaller compiled one.
constexpr uint64_t kReplacementSlack = 4096;

bool IsFunction(const Frame& frame) { return (frame.method & kFunctionBit) != 0; }

// Counts the end of a frame whose exit was not seen.
void EndFrame(Thread& thread, const Frame& frame) {
  if (IsGate(frame)) EndGate(thread);
  if (IsOpen(frame) || IsLabel(frame)) return;
  if (IsWatched(frame)) EndWatchedCall(thread);
  uint32_t& count = frame.node->exits[thread.cursor.previous];
  MoveIfLarge(thread, frame.node, count);
  IncrementOrDrop(thread, count);
  thread.cursor.previous = static_cast<uint32_t>(EventKind::kExit);
  ++thread.timeline.record->healed;
}

// Ends the innermost frames for which gone(frame) is true.
template <class Gone>
void EndFrames(Thread& thread, Gone gone) {
  Frame* top = thread.cursor.top;
  while (gone(top[-1])) EndFrame(thread, *--top);
  thread.cursor.top = top;
}

}  // namespace

// A function's frame never moves.
bool IsGone(const Frame& frame, uint64_t sp) {
  if (IsFunction(frame)) return frame.sp < sp;
  return frame.method != 0 && frame.sp <= sp - kReplacementSlack;
}

bool GrowFrames(Thread& thread) {
  Timeline& timeline = thread.timeline;
  const size_t count = thread.cursor.limit - timeline.frames;
  auto* const frames = MapArray<Frame>(count * 2);
  if (frames == nullptr) return false;
  std::copy(timeline.frames, timeline.frames + count, frames);
  Frame* const old = timeline.frames;
  // Set first, because a sample may interrupt this.
  thread.cursor.top = frames + (thread.cursor.top - old);
  timeline.frames = frames;
  thread.cursor.limit = frames + count * 2;
  if (old != FirstFrames(thread)) UnmapArray(old, count);
  return true;
}

Frame* FrameOf(const Thread& thread, uint64_t method) {
  Frame* frame = thread.cursor.top - 1;
  while (MethodOf(*frame) != method && frame->method != 0) --frame;
  return frame->method != 0 ? frame : nullptr;
}

void Heal(Thread& thread, uint64_t sp) {
  EndFrames(thread, [sp](const Frame& frame) { return IsGone(frame, sp); });
  Frame* const top = thread.cursor.top;
  if (!IsFunction(top[-1]) && top[-1].sp <= sp)
    top[-1].sp = sp + 16;  // replaced by a smaller frame: exists at least up to here
}

void HealFunctions(uint64_t sp) {
  Thread* const thread = current_thread;
  if (thread == nullptr || thread->cursor.top == nullptr ||
      (AttentionOf(*thread) & ~uint32_t{kOutside}) != 0)
    return;
  const RareWork work;
  if (!work.acquired()) return;
  EndFrames(*thread, [sp](const Frame& frame) { return IsFunction(frame) && IsGone(frame, sp); });
}

void EndFramesAbove(Thread& thread, const Frame* frame) {
  for (const Frame* top = thread.cursor.top - 1; top != frame; --top) EndFrame(thread, *top);
}

void PushOpenFrames(Thread& thread, std::span<const Frame> open_frames) {
  for (const Frame& open : open_frames) {
    if ((open.method & kFunctionBit) == 0) return;
    if (IsLabel(open)) continue;
    if (thread.cursor.top == thread.cursor.limit && !GrowFrames(thread)) return;
    const uint64_t method = MethodOf(open);
    const profile::MethodRef ref = thread.session->method_cache().Resolve(thread, method, 0)->ref;
    profile::Node* const node = FindOrAddChild(thread, thread.cursor.top[-1].node, ref).node;
    *thread.cursor.top++ = {method | kOpenBit, open.sp, node};
  }
}

}  // namespace jprof::engine
