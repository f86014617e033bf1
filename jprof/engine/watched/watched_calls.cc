#include "jprof/engine/watched/watched_calls.h"

#include <algorithm>

#include "common/mapped_memory.h"
#include "jprof/engine/session.h"

namespace jprof::engine {
namespace {

using profile::DistributionRecord;
using profile::TimedCalls;

constexpr uint32_t kFirstWatchedCalls = 64;

// Adds `factor` times the second one: 1 or -1.
void Add(Progress& sum, const Progress& other, int64_t factor) {
  sum.off_cpu += factor * other.off_cpu;
  sum.timed_ticks += factor * other.timed_ticks;
  sum.handler_ticks += factor * other.handler_ticks;
  sum.events += static_cast<uint64_t>(factor) * other.events;
  sum.timed += static_cast<uint64_t>(factor) * other.timed;
}

// Returns the progress of the thread. Events are counted down to the next timed one.
Progress OfThread(const Thread& thread) {
  Progress progress = thread.progress;
  progress.events -= thread.until_timed;
  return progress;
}

bool GrowWatchedCalls(Timeline& timeline) {
  return GrowArray(timeline.watched, timeline.watched_depth, timeline.watched_capacity,
                   kFirstWatchedCalls);
}

// Counts one call. The number of calls is last: the sums of a process that is killed meanwhile
// include a call too much, never too few.
void Count(const TimedCalls& call, TimedCalls& to) {
  to.ticks += call.ticks;
  to.events += call.events;
  to.timed += call.timed;
  __atomic_store_n(&to.calls, to.calls + 1, __ATOMIC_RELEASE);
}

void Count(int64_t ticks, const Progress& inside, profile::DurationRecord& durations) {
  const TimedCalls call = {.calls = 1,
                           .ticks = static_cast<uint64_t>(std::max<int64_t>(0, ticks)),
                           .events = inside.events,
                           .timed = inside.timed};
  if (durations.shortest.calls == 0 || call.ticks < durations.shortest.ticks)
    durations.shortest = call;
  if (durations.longest.calls == 0 || call.ticks > durations.longest.ticks)
    durations.longest = call;
  Count(call, durations.buckets[profile::BucketOf(call.ticks)]);
}

}  // namespace

WatchedCalls::~WatchedCalls() { UnmapArray(places_, nodes_); }

bool WatchedCalls::Open() {
  nodes_ = writer_.most_nodes();
  places_ = MapArray<uint32_t>(nodes_);
  return places_ != nullptr;
}

DistributionRecord* WatchedCalls::RecordOf(const profile::Node& node) {
  const auto index = static_cast<uint64_t>(&node - writer_.nodes());
  if (index >= nodes_) return nullptr;
  if (places_[index] != 0) return writer_.DistributionAt(places_[index] - 1);
  DistributionRecord* const record = writer_.AllocateDistribution();
  if (record == nullptr) return nullptr;
  record->node = static_cast<uint32_t>(index);
  places_[index] = writer_.IndexOf(record) + 1;
  return record;
}

bool BeginIfWatched(Thread& thread, profile::MethodRef method, const profile::Node& node) {
  WatchedCalls& calls = thread.session->watched();
  if (!calls.IsWatched(profile::MethodOf(method))) return false;
  Timeline& timeline = thread.timeline;
  const bool is_context = profile::MethodOf(node.ref) == profile::MethodOf(method);
  const bool has_room =
      timeline.watched_depth < timeline.watched_capacity || GrowWatchedCalls(timeline);
  DistributionRecord* const record = is_context && has_room ? calls.RecordOf(node) : nullptr;
  if (record == nullptr) {
    __atomic_fetch_add(&thread.session->writer().header()->lost_durations, 1, __ATOMIC_RELAXED);
    return false;
  }
  timeline.watched[timeline.watched_depth++] = {record, thread.last, OfTimeline(thread)};
  return true;
}

void EndWatchedCall(Thread& thread) {
  Timeline& timeline = thread.timeline;
  const WatchedCall& call = timeline.watched[--timeline.watched_depth];
  Progress inside = OfTimeline(thread);
  Add(inside, call.before, -1);
  const int64_t elapsed = thread.last - call.entered - inside.timed_ticks;
  call.record->handler_ticks += inside.handler_ticks;
  Count(elapsed - inside.off_cpu, inside, call.record->cpu);
  Count(elapsed, inside, call.record->elapsed);
}

Progress OfTimeline(const Thread& thread) {
  Progress progress = thread.timeline.progress;
  Add(progress, OfThread(thread), 1);
  return progress;
}

void PauseProgress(Thread& thread) {
  Progress& progress = thread.timeline.progress;
  Add(progress, OfThread(thread), 1);
  progress.off_cpu -= thread.last;
}

void ResumeProgress(Thread& thread) {
  Progress& progress = thread.timeline.progress;
  Add(progress, OfThread(thread), -1);
  progress.off_cpu += thread.last;
}

}  // namespace jprof::engine
