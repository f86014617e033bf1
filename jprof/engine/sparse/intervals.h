// Decides which intervals are timed if the clock is read for some of them only (--time-every;
// docs/decisions/calls/0046-time-windows-of-intervals.md). Every call is counted; an interval is
// what lies between two consecutive events of a thread.
//
// - Each event increments one of the four counts of a node. The first kFirstTimedIntervals
//   intervals that begin so are all timed, and stand for themselves.
// - Of the others one in `every` is timed, in windows: a few events, chosen at random, each open a
//   window, and the kWindow intervals after the next event are timed. Their readings of the clock
//   are those of a recording that times every interval, so the same calibration applies. What is
//   timed is decided before the interval begins: its length has no influence.
// - A timed interval adds to its context's time what it took, times the number of intervals that
//   it stands for. The sum is an estimate without bias of what timing every interval gives.
// - Where an interval turns out to be long compared with a clock reading, the next ones of its
//   context are all timed and stand for themselves, until there are as many short ones as the long
//   one would pay for: code with long intervals is timed as without the option. If a window found
//   it, this begins kWindow intervals later: until then, others may be in the window because this
//   one was, and have to count for many.
// - What lies between two timed intervals has a known length. If it is longer than
//   Intervals::longest, a long interval was missed: its time goes to the context that is common to
//   both ends and is counted as `untimed_ticks`. A timed interval of that length stands for itself.
//
// Only the thread itself may call these functions.
#pragma once

#include <cstdint>
#include <type_traits>

#include "jprof/engine/thread.h"
#include "profile/files/sparse_time.h"

namespace jprof::engine {

using profile::kFirstTimedIntervals;
using profile::kWindow;

// Returns whether an event that has incremented `count` opens a window. It is a random number of
// the count and its place, which depends on where the file is mapped: no period of the program
// selects the same calls again and again.
[[gnu::always_inline]] inline bool OpensWindow(const uint32_t* count, uint32_t threshold) {
  const auto place = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(count));
  uint32_t random = (*count + place * 0x85ebca6bu) * 0x9e3779b1u;
  random ^= random >> 15;
  return random * 0x2c1b3c6du < threshold;
}
// Returns a number of a context. All contexts that are less than 256 GiB apart have different ones.
[[gnu::always_inline]] inline uint32_t ContextTag(const profile::Node* node) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(node) / sizeof(profile::Node));
}
// Returns the place of a context in Intervals::long_context and short_until.
[[gnu::always_inline]] inline size_t PlaceOfTag(uint32_t tag) {
  return tag % std::extent_v<decltype(Intervals::long_context)>;
}
// Returns whether all intervals of a context are timed because they are long.
[[gnu::always_inline]] inline bool IsLong(const Intervals& intervals, uint32_t tag) {
  return intervals.long_context[PlaceOfTag(tag)] == tag;
}
// Returns whether the interval that an event has begun is timed and stands for itself, whatever
// windows there are. `count` is what the event has incremented.
[[gnu::always_inline]] inline bool StandsForItself(const Thread& thread, const uint32_t* count) {
  return (*count <= kFirstTimedIntervals) |
         IsLong(thread.intervals, ContextTag(thread.cursor.top[-1].node));
}
// Returns whether an event after which nothing has been timed begins something.
[[gnu::always_inline]] inline bool IsTimed(const Thread& thread, const uint32_t* count) {
  const bool opens = OpensWindow(count, thread.intervals.threshold);
  return StandsForItself(thread, count) | opens;
}

// Begins to record with the session's options.
void SetIntervals(Thread& thread);

// Ends the interval at `now`, and gives its time to `node` if it is timed.
void EndInterval(Thread& thread, profile::Node* node, int64_t now);
// Does the same for an interval of `ticks` on the CPU that a rare event ends, if it is timed.
// Otherwise these are the ticks since the last timed one.
void EndAnyInterval(Thread& thread, profile::Node* node, int64_t ticks);

// Decides about the interval that an event has begun, whose early clock read is Thread::last.
// `count` is what the event has incremented.
void ContinueTiming(Thread& thread, const uint32_t* count);
// Returns whether the interval that has just begun shares the reading of the clock with the event
// that began it, so that it contains the rest of this event.
inline bool SharesReading(const Thread& thread) {
  return thread.interval != Interval::kUntimed && thread.interval != Interval::kOpensWindow;
}
// Begins a timed interval or a window after an interval that was not timed.
void BeginTiming(Thread& thread, const uint32_t* count);
// Begins a timed interval after a rare event, which has been timed alone.
void TimeAfterRareEvent(Thread& thread, const uint32_t* count);

// Adds what the thread has counted to the profile.
void AddIntervals(Thread& thread);

}  // namespace jprof::engine
