#include "jprof/engine/trace_blocks.h"

#include <algorithm>
#include <span>

#include "common/mapped_memory.h"

namespace jprof::engine {
namespace {

using profile::kTraceBlockBytes;
using profile::TraceBlock;

void BeginBlock(Thread& thread, TraceBlock* block, uint32_t row) {
  Timeline& timeline = thread.timeline;
  *block = TraceBlock{};
  block->thread = row;
  block->first_event = timeline.record->trace_events;
  block->first_value = timeline.trace_value;
  block->sequence = ++timeline.trace_sequence;
  timeline.block = block;
  thread.cursor.trace_next = reinterpret_cast<uint8_t*>(block + 1);
  thread.cursor.trace_end = reinterpret_cast<uint8_t*>(block) + kTraceBlockBytes;
}

bool MakeRing(Timeline& timeline, uint32_t capacity) {
  timeline.ring = MapArray<TraceBlock*>(capacity);
  if (timeline.ring != nullptr) timeline.ring_capacity = capacity;
  return timeline.ring != nullptr;
}

}  // namespace

bool TraceBlocks::Start() {
  const bool compressed = options_.files.trace && options_.trace_keep == TraceKeep::kContinuous;
  return !compressed || drain_.Start(&writer_, {options_.trace_rotate_ns, options_.trace_files});
}

bool TraceBlocks::Next(Thread& thread) {
  TraceBlock* block = nullptr;
  switch (options_.trace_keep) {
    case TraceKeep::kNormal:
      block = NewBlock(thread.timeline);
      break;
    case TraceKeep::kWrap:
      block = NewOrOldest(thread.timeline);
      break;
    case TraceKeep::kContinuous:
      block = InExchange(thread);
      break;
  }
  if (block != nullptr) BeginBlock(thread, block, writer_.IndexOf(thread.timeline.record));
  return block != nullptr;
}

// Returns a new block of the timeline's share, or null if the share is used up.
TraceBlock* TraceBlocks::NewBlock(Timeline& timeline) {
  if (timeline.ring_used >= Share()) return nullptr;
  TraceBlock* const block = writer_.AllocateTraceBlock();
  if (block != nullptr) ++timeline.ring_used;
  return block;
}

TraceBlock* TraceBlocks::NewOrOldest(Timeline& timeline) {
  if (timeline.ring == nullptr && !MakeRing(timeline, Share())) return nullptr;
  if (TraceBlock* const block = NewBlock(timeline))
    return timeline.ring[timeline.ring_used - 1] = block;
  if (timeline.ring_used == 0) return nullptr;
  TraceBlock* const oldest = timeline.ring[timeline.ring_at];
  timeline.ring_at = (timeline.ring_at + 1) % timeline.ring_used;
  timeline.record->trace_overwritten += oldest->events;
  timeline.overwritten_sequence = oldest->sequence;
  return oldest;
}

uint32_t TraceBlocks::InRing(const Thread& thread, uint64_t first_sequence) const {
  const Timeline& timeline = thread.timeline;
  const std::span ring(timeline.ring, timeline.ring_used);
  return static_cast<uint32_t>(std::ranges::count_if(
      ring, [&](const TraceBlock* block) { return block->sequence >= first_sequence; }));
}

bool TraceBlocks::Keep(Thread& thread, uint64_t first_sequence) {
  TraceBlock* const next = writer_.AllocateTraceBlock();
  if (next == nullptr) return false;
  Timeline& timeline = thread.timeline;
  // The oldest block comes first, and the kept ones are the last of the ring.
  const std::span ring(timeline.ring, timeline.ring_used);
  std::ranges::rotate(ring, ring.begin() + timeline.ring_at);
  timeline.ring_at = 0;
  const uint32_t kept = InRing(thread, first_sequence);
  for (TraceBlock* const block : ring.last(kept))
    __atomic_store_n(&block->kept, profile::kKeptBlock, __ATOMIC_RELEASE);
  timeline.ring_used -= kept;
  timeline.ring[timeline.ring_used++] = next;
  BeginBlock(thread, next, writer_.IndexOf(timeline.record));
  return true;
}

// Hands the thread's full block to the background thread, and returns an empty one.
TraceBlock* TraceBlocks::InExchange(Thread& thread) {
  Timeline& timeline = thread.timeline;
  if (timeline.block != nullptr) {
    drain_.Put(timeline.block);
    timeline.block = nullptr;
    thread.cursor.trace_next = thread.cursor.trace_end = nullptr;
  }
  if (TraceBlock* const block = drain_.TakeFree()) return block;
  return timeline.ring_used < Share() ? NewBlock(timeline) : drain_.AwaitFree();
}

uint32_t TraceBlocks::Share() const {
  return static_cast<uint32_t>(std::max<uint64_t>(2, options_.trace_memory / kTraceBlockBytes));
}

void TraceBlocks::End(Thread& thread) {
  Timeline& timeline = thread.timeline;
  if (timeline.block != nullptr && drain_.running()) drain_.Put(timeline.block);
  timeline.block = nullptr;
}

}  // namespace jprof::engine
