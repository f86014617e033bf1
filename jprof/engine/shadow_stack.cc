#include "jprof/engine/shadow_stack.h"

#include <algorithm>

#include "jprof/engine/mapped_memory.h"
#include "jprof/engine/session.h"
#include "jprof/engine/thread_memory.h"
#include "jprof/engine/tree.h"

namespace jprof::engine {

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

void PushOpenFrames(Thread& thread, std::span<const Frame> open_frames) {
  for (const Frame& open : open_frames) {
    if ((open.method & kFunctionBit) == 0) return;
    if (thread.cursor.top == thread.cursor.limit && !GrowFrames(thread)) return;
    const uint64_t method = open.method & ~kOpenBit;
    const uint32_t word = thread.session->method_cache().Resolve(thread, method, 0)->word;
    profile::Node* const node = FindOrAddChild(thread, thread.cursor.top[-1].node, word).node;
    *thread.cursor.top++ = {method | kOpenBit, open.sp, node};
  }
}

}  // namespace jprof::engine
