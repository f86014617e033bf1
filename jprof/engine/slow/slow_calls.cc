#include "jprof/engine/slow/slow_calls.h"

#include <algorithm>
#include <atomic>
#include <span>

#include "common/mapped_memory.h"
#include "jprof/engine/event.h"
#include "jprof/engine/event_values.h"
#include "jprof/engine/session.h"
#include "jprof/engine/watched/watched_calls.h"

namespace jprof::engine {
namespace {

using profile::SlowCall;
using profile::SlowCounts;

constexpr uint32_t kFirstOpenCalls = 64;
constexpr uint64_t kNeverAbove = ~uint64_t{0};
constexpr double kNanosOfSecond = 1e9;

bool GrowOpenCalls(OpenCalls& open) {
  return GrowArray(open.calls, open.depth, open.capacity, kFirstOpenCalls);
}

// Returns the open calls of the current timeline, or null if there is no memory.
OpenCalls* OpenCallsOf(Timeline& timeline) {
  if (timeline.open_calls == nullptr) timeline.open_calls = MapArray<OpenCalls>(1);
  return timeline.open_calls;
}

void AddTo(uint64_t& count) { __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED); }

// Returns the number of the event that was recorded last, or that was to be.
uint64_t LatestEvent(const Thread& thread) {
  return thread.timeline.record->trace_events - uint64_t{thread.timeline.record->trace_events != 0};
}

uint64_t NanosOf(int64_t ticks, uint64_t ticks_per_second) {
  const double nanos = static_cast<double>(std::max<int64_t>(0, ticks)) * kNanosOfSecond /
                       static_cast<double>(ticks_per_second);
  return static_cast<uint64_t>(nanos);
}

}  // namespace

void SlowCalls::Start() {
  const auto ticks_per_second = static_cast<double>(writer_.header()->ticks_per_second);
  const size_t items = std::min(options_.slow_ns.size(), kMostSlowItems);
  for (size_t i = 0; i < items; ++i)
    slow_ticks_[i] = static_cast<int64_t>(static_cast<double>(options_.slow_ns[i]) *
                                          ticks_per_second / kNanosOfSecond);
  if (options_.files.slow_calls) writer_.header()->slow_items = items;
}

void SlowCalls::WriteWait(Thread& thread) {
  if (!HasOpenCalls(thread.timeline)) return;
  OpenCalls& open = *thread.timeline.open_calls;
  const int64_t off_cpu = OfTimeline(thread).off_cpu;
  const int64_t waited = off_cpu - open.waited;
  if (waited <= 0) return;
  open.waited = off_cpu;
  const bool has_room =
      thread.cursor.trace_end - thread.cursor.trace_next >= 2 * internal::kLongestTraceEvent;
  if (!has_room && !trace_.Next(thread)) return;
  internal::TraceWait(&thread, waited);
}

void SlowCalls::OnEvent(Thread& thread, profile::MethodRef method, EventKind kind, uint64_t sp,
                        int64_t now) {
  const profile::MethodId id = profile::MethodOf(method);
  if (!methods_.IsWatched(id) || methods_.PatternOf(id) >= kMostSlowItems) return;
  OpenCalls* const open = OpenCallsOf(thread.timeline);
  if (open == nullptr) {
    if (kind == EventKind::kEntry) AddTo(writer_.header()->memory_failures);
    return;
  }
  if (kind == EventKind::kExit) return End(thread, *open, method, now);
  const Timeline& timeline = thread.timeline;
  Begin(thread, *open,
        {.method = method,
         .sp = sp != kNoStack ? sp : kNeverAbove,
         .entered = now,
         .off_cpu = OfTimeline(thread).off_cpu,
         .value = timeline.trace_value,
         .first_event = LatestEvent(thread),
         .sequence = timeline.block != nullptr ? timeline.block->sequence : 1,
         .dropped = timeline.record->trace_dropped});
}

void SlowCalls::Begin(Thread& thread, OpenCalls& open, const OpenCall& call) {
  while (open.depth > 0 && call.sp != kNeverAbove && call.sp >= open.calls[open.depth - 1].sp)
    CountUnended(thread, open);
  if (SlowCounts* const counts = CountsOf(thread, open, call.method)) ++counts->calls;
  if (open.depth == open.capacity && !GrowOpenCalls(open))
    return AddTo(writer_.header()->memory_failures);
  if (open.depth == 0) open.waited = call.off_cpu;
  open.calls[open.depth++] = call;
}

// Ends the innermost open call, which was left without an exit.
void SlowCalls::CountUnended(Thread& thread, OpenCalls& open) {
  const OpenCall& call = open.calls[--open.depth];
  if (SlowCounts* const counts = CountsOf(thread, open, call.method)) ++counts->unended;
  AddTo(writer_.header()->slow_unended);
}

void SlowCalls::Abandon(Thread& thread) {
  while (HasOpenCalls(thread.timeline)) CountUnended(thread, *thread.timeline.open_calls);
}

// An exit without an entry is that of a call which had begun before there was memory for it.
void SlowCalls::End(Thread& thread, OpenCalls& open, profile::MethodRef method, int64_t now) {
  const profile::MethodId id = profile::MethodOf(method);
  const std::span calls(open.calls, open.depth);
  const auto found = std::ranges::find(calls.rbegin(), calls.rend(), id, [](const OpenCall& call) {
    return profile::MethodOf(call.method);
  });
  if (found == calls.rend()) return;
  while (&open.calls[open.depth - 1] != &*found) CountUnended(thread, open);
  const OpenCall call = open.calls[--open.depth];
  const int64_t elapsed = now - call.entered;
  if (elapsed < slow_ticks_[methods_.PatternOf(id)]) return;
  if (SlowCounts* const counts = CountsOf(thread, open, call.method)) ++counts->slow;
  const Timeline& timeline = thread.timeline;
  const profile::ControlHeader& header = *writer_.header();
  const bool is_cut = timeline.overwritten_sequence >= call.sequence ||
                      timeline.record->trace_dropped != call.dropped;
  const int64_t after_start = call.entered - static_cast<int64_t>(header.start_ticks);
  Keep(thread, call,
       {.thread = writer_.IndexOf(timeline.record),
        .method = call.method,
        .item = methods_.PatternOf(id),
        .first_event = call.first_event,
        .last_event = LatestEvent(thread),
        .start_unix_ns = header.start_unix_ns + NanosOf(after_start, header.ticks_per_second),
        .wall_ns = NanosOf(elapsed, header.ticks_per_second),
        .cpu_ticks = timeline.trace_value - call.value,
        .off_cpu_ticks = OfTimeline(thread).off_cpu - call.off_cpu,
        .virtual_thread = thread.continuation != 0 ? thread.virtual_thread : 0,
        .flags = is_cut ? uint32_t{profile::kSlowCut} : 0});
}

// Keeps the call's blocks before its record, so that a process that is killed meanwhile has no call
// without events.
void SlowCalls::Keep(Thread& thread, const OpenCall& call, SlowCall ended) {
  profile::ControlHeader& header = *writer_.header();
  if (ended.flags != 0) AddTo(header.slow_cut);
  const bool kept = KeepBlocks(thread, call);
  if (!kept) ended.flags |= profile::kSlowNotKept;
  SlowCall* const record = writer_.AllocateSlowCall();
  if (!kept || record == nullptr) AddTo(header.slow_not_kept);
  if (record == nullptr) return;
  *record = ended;
  std::atomic_ref(record->kind).store(profile::SlowKind::kCall, std::memory_order_release);
}

// Keeps the blocks from the one before that of the entry to the current one.
bool SlowCalls::KeepBlocks(Thread& thread, const OpenCall& call) {
  if (thread.timeline.block == nullptr) return false;
  const uint64_t first = call.sequence - 1;
  const uint64_t bytes = uint64_t{trace_.InRing(thread, first)} * profile::kTraceBlockBytes;
  const uint64_t before = __atomic_fetch_add(&kept_bytes_, bytes, __ATOMIC_RELAXED);
  if (before + bytes <= options_.slow_memory && trace_.Keep(thread, first)) return true;
  __atomic_fetch_sub(&kept_bytes_, bytes, __ATOMIC_RELAXED);
  return false;
}

// Returns the counts of the item that the method is watched for, or null if there is no space.
SlowCounts* SlowCalls::CountsOf(Thread& thread, OpenCalls& open, profile::MethodRef method) {
  const uint32_t item = methods_.PatternOf(profile::MethodOf(method));
  SlowCounts*& counts = open.counts[item];
  if (counts != nullptr) return counts;
  counts = writer_.AllocateSlowCounts();
  if (counts == nullptr) return nullptr;
  counts->thread = writer_.IndexOf(thread.timeline.record);
  counts->item = item;
  std::atomic_ref(counts->kind).store(profile::SlowKind::kCounts, std::memory_order_release);
  return counts;
}

void ForgetStackPointers(const Timeline& timeline) {
  if (!HasOpenCalls(timeline)) return;
  for (OpenCall& call : std::span(timeline.open_calls->calls, timeline.open_calls->depth))
    call.sp = kNeverAbove;
}

void FreeOpenCalls(const Timeline& timeline) {
  if (timeline.open_calls == nullptr) return;
  UnmapArray(timeline.open_calls->calls, timeline.open_calls->capacity);
  UnmapArray(timeline.open_calls, 1);
}

}  // namespace jprof::engine
