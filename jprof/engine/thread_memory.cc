#include "jprof/engine/thread_memory.h"

#include <sys/mman.h>

#include <cstddef>
#include <iterator>
#include <new>
#include <utility>

#include "common/mapped_memory.h"
#include "jprof/engine/slow/slow_calls.h"
#include "jprof/engine/watched/watched_calls.h"

namespace jprof::engine {
namespace {

constexpr size_t kFirstFrames = 1024;
// With functions, a shadow stack is large enough for a stack of 8 MiB, whose frames have 32 bytes
// or more. Only what is used takes memory.
constexpr size_t kFunctionFrames = 1 << 18;
// With functions, a virtual thread's is large enough for the 1 MiB of a carrier's stack.
constexpr size_t kVirtualFunctionFrames = 1 << 15;

struct ThreadMemory {
  Thread thread;
  MethodBucket buckets[kFirstBuckets];
  Frame frames[kFirstFrames];  // or more: Thread::first_frames
};
struct TimelineMemory {
  Timeline timeline;
  size_t first_frames;
  Frame frames[kFirstFrames];  // or more: first_frames
};

template <class Memory>
size_t BytesOf(size_t frames) {
  return offsetof(Memory, frames) + frames * sizeof(Frame);
}

void SetFrames(Timeline& timeline, Frame* frames, size_t count) {
  timeline.frames = timeline.cursor.top = frames;
  timeline.cursor.limit = frames + count;
}

// Frees the parts of a timeline that are outside its first mapping: its ring of trace blocks, its
// watched and open calls, and frames that GrowFrames has allocated. `first` points to the frames
// inside that mapping. Requires that the timeline's cursor is saved.
void FreePartsOf(const Timeline& timeline, const Frame* first) {
  UnmapArray(timeline.ring, timeline.ring_capacity);
  UnmapArray(timeline.watched, timeline.watched_capacity);
  FreeOpenCalls(timeline);
  if (timeline.frames != first)
    UnmapArray(timeline.frames, timeline.cursor.limit - timeline.frames);
}

void FreeBuckets(const Thread& thread) {
  if (thread.buckets != FirstBuckets(thread)) UnmapArray(thread.buckets, BucketCount(thread));
  for (size_t i = 0; i < std::size(thread.outgrown_buckets); ++i)
    UnmapArray(thread.outgrown_buckets[i], kFirstBuckets << i);
}

}  // namespace

Thread* MakeThread(bool has_functions) {
  const size_t frames = has_functions ? kFunctionFrames : kFirstFrames;
  auto* const memory = static_cast<ThreadMemory*>(MapBytes(BytesOf<ThreadMemory>(frames)));
  if (memory == nullptr) return nullptr;
  auto* const thread = new (&memory->thread) Thread;
  thread->buckets = memory->buckets;
  thread->bucket_shift = 64 - 4;
  static_assert(kFirstBuckets == 1 << 4);
  SetFrames(thread->timeline, memory->frames, frames);
  thread->first_frames = frames;
  return thread;
}

void FreeThread(Thread& thread) {
  if (ThreadExtension* extension = thread.extension) extension->Release();
  thread.SaveCursor();
  if (thread.mounted != nullptr) {
    *thread.mounted = std::exchange(thread.timeline, thread.carrier);
    FreeTimeline(*thread.mounted);
  }
  FreeBuckets(thread);
  FreePartsOf(thread.timeline, reinterpret_cast<ThreadMemory*>(&thread)->frames);
  const size_t bytes = BytesOf<ThreadMemory>(thread.first_frames);
  thread.~Thread();
  munmap(&thread, bytes);
}

Timeline* MakeTimeline(bool has_functions) {
  const size_t frames = has_functions ? kVirtualFunctionFrames : kFirstFrames;
  auto* const memory = static_cast<TimelineMemory*>(MapBytes(BytesOf<TimelineMemory>(frames)));
  if (memory == nullptr) return nullptr;
  auto* const timeline = new (&memory->timeline) Timeline;
  memory->first_frames = frames;
  SetFrames(*timeline, memory->frames, frames);
  return timeline;
}

void FreeTimeline(Timeline& timeline) {
  auto* const memory = reinterpret_cast<TimelineMemory*>(&timeline);
  FreePartsOf(timeline, memory->frames);
  munmap(memory, BytesOf<TimelineMemory>(memory->first_frames));
}

const MethodBucket* FirstBuckets(const Thread& thread) {
  return reinterpret_cast<const ThreadMemory*>(&thread)->buckets;
}

const Frame* FirstFrames(const Thread& thread) {
  if (thread.mounted != nullptr)
    return reinterpret_cast<const TimelineMemory*>(thread.mounted)->frames;
  return reinterpret_cast<const ThreadMemory*>(&thread)->frames;
}

}  // namespace jprof::engine
