// Records what an event has beside the counts of the tree: counters, the trace, and records for
// calibration. These functions are inlined into the fast path.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/frame_kind.h"
#include "jprof/engine/recording.h"
#include "jprof/engine/thread.h"
#include "jprof/engine/timed_events.h"
#include "profile/files/layout.h"
#include "ptm/event_group.h"
#include "ptm/tsc.h"

namespace jprof::engine::internal {

// Adds a record for calibration. It takes two stores, because recording for calibration must itself
// cost almost nothing.
[[gnu::always_inline]] inline void Train(Thread* thread, int64_t delta, profile::MethodRef from,
                                         profile::MethodRef to, EventKind event,
                                         uint32_t metric = 0) {
  *thread->training.next++ = {static_cast<uint32_t>(delta),
                              from,
                              to,
                              0,
                              static_cast<uint8_t>(thread->cursor.previous),
                              static_cast<uint8_t>(static_cast<uint32_t>(event) | metric << 1)};
}

// Writes a number, seven bits in each byte and the lowest first. Returns the place behind it.
[[gnu::always_inline]] inline uint8_t* PutVarint(uint8_t* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}
// No event of a trace takes more bytes than this.
inline constexpr int kLongestTraceEvent = 5 + 10;

// Adds an event to the trace. Requires that the block has space.
[[gnu::always_inline]] inline void Trace(Thread* thread, profile::MethodRef ref, EventKind event,
                                         int64_t delta) {
  const uint64_t head = uint64_t{IndexOf(profile::MethodOf(ref))} << 5 |
                        static_cast<uint64_t>(profile::TypeOf(ref)) << 1 |
                        static_cast<uint64_t>(event);
  const uint64_t zigzag = static_cast<uint64_t>(delta) << 1 ^ static_cast<uint64_t>(delta >> 63);
  uint8_t* next = PutVarint(PutVarint(thread->cursor.trace_next, head), zigzag);
  profile::TraceBlock* block = thread->timeline.block;
  block->bytes += static_cast<uint32_t>(next - thread->cursor.trace_next);
  ++block->events;
  thread->timeline.trace_value += delta;
  ++thread->timeline.record->trace_events;
  thread->cursor.trace_next = next;
}

// Adds to the trace that the thread was not running for so many ticks before the next event.
// Requires that the block has space for both.
inline void TraceWait(Thread* thread, int64_t ticks) {
  const uint64_t head = uint64_t{IndexOf(profile::kRootMethod)} << 5;
  uint8_t* const next =
      PutVarint(PutVarint(thread->cursor.trace_next, head), static_cast<uint64_t>(ticks) << 1);
  thread->timeline.block->bytes += static_cast<uint32_t>(next - thread->cursor.trace_next);
  thread->cursor.trace_next = next;
}

// Is true if events read counters.
template <class Recording>
inline constexpr bool kCounts = Recording::kCounters != kNoCounters;

// Is true if one event in EventTiming::period is timed. Counters are exact and read late at every
// event, and a trace has no tree update.
template <class Recording>
inline constexpr bool kTimesEvents = Recording::kClock && !Recording::kTrace && !kCounts<Recording>;

// Performs the early read of an event's counters.
template <class Recording>
inline void ReadCounters(Thread* thread) {
  if constexpr (kCounts<Recording>) {
    thread->counting.group.ReadAll<Recording::kCounters>(thread->counting.early);
  }
}

// Attributes the counts since the last event to `node`.
template <class Recording>
inline void AttributeCounters(Thread* thread, profile::Node* node) {
  if constexpr (kCounts<Recording>) {
    const int count =
        Recording::kCounters != 0 ? Recording::kCounters : thread->counting.group.size();
    const int extras = count - (Recording::kClock ? 0 : 1);  // metrics beyond the first
    int64_t* extra = thread->extra + static_cast<size_t>(node - thread->nodes) * extras;
    for (int i = 0; i < count; ++i) {
      const int64_t delta = thread->counting.early[i] - thread->counting.late[i];
      if (!Recording::kClock && i == 0) {
        node->self += delta;
      } else {
        extra[Recording::kClock ? i : i - 1] += delta;
      }
    }
  }
}

// Records the counts since the last event, for calibration.
template <class Recording>
inline void TrainCounters(Thread* thread, profile::MethodRef from, profile::MethodRef to,
                          EventKind event) {
  if constexpr (kCounts<Recording> && Recording::kTrain) {
    for (int i = 0; i < thread->counting.group.size(); ++i) {
      const int64_t delta = thread->counting.early[i] - thread->counting.late[i];
      Train(thread, delta < profile::kDirty ? delta : int64_t{profile::kDirty}, from, to, event,
            static_cast<uint32_t>(i + Recording::kClock));
    }
  }
}

// Ends an event: from here on time belongs to the program.
template <class Recording>
inline void ReadLate(Thread* thread, int64_t now) {
  if constexpr (kCounts<Recording>) {
    if constexpr (Recording::kClock) {
      const int64_t late = ptm::ReadTsc();
      if (__atomic_load_n(thread->page_lock, __ATOMIC_RELAXED) != thread->page_seen) [[unlikely]] {
        DispatchedInside(thread, now);
      } else {
        thread->record->own_ticks += late - now;
        thread->last = late;
      }
    }
    thread->counting.group.ReadAll<Recording::kCounters>(thread->counting.late);
  }
}

// Return whether there may be no space for the trace, or for the records for calibration, of one
// more event.
template <class Recording>
inline bool TraceIsFull(const Thread* thread) {
  return Recording::kTrace &&
         thread->cursor.trace_end - thread->cursor.trace_next < kLongestTraceEvent;
}
template <class Recording>
inline bool TrainIsFull(const Thread* thread) {
  if constexpr (!Recording::kTrain) return false;
  constexpr int kRecords = kCounts<Recording> ? 1 + ptm::kMaxEvents : 1;  // per event
  return thread->training.end - thread->training.next < kRecords;
}

}  // namespace jprof::engine::internal
