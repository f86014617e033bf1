#include "jprof/engine/trace_blocks.h"

#include <algorithm>

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
  return !compressed || drain_.Start(&writer_);
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
  return oldest;
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
