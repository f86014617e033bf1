// Measures the time of an event and of its handler. One event in EventTiming::period is timed: two
// fenced clock reads measure its cost, which is overhead and a sample of the events that are not
// timed (docs/decisions/0001-time-one-event-in-32.md). Only the thread itself may call these
// functions.
#pragma once

#include <cstdint>

#include "jprof/engine/thread.h"

namespace jprof::engine {

// Contains the on-CPU time since the last event.
struct Elapsed {
  int64_t ticks;
  bool dispatched;  // the thread was dispatched in between
};
// Returns the time up to `now`. After a dispatch the kernel is queried, which also advances `now`.
Elapsed TakeTime(Thread& thread, int64_t* now);

// Records that a dispatch occurred inside the handler: only its on-CPU time is overhead.
void DispatchedInside(Thread* thread, int64_t now);

// Begin and end a timed event, whose early clock read is `now`. BeforeTimedEvent draws the next
// one. `inside` is the time between the two fenced reads.
void BeforeTimedEvent(Thread* thread);
void AfterTimedEvent(Thread* thread, int64_t now, int64_t inside);

// Ends an event with unusual work by timing it: its duration is overhead, and does not represent
// other events.
void EndTimedEvent(Thread& thread, int64_t now);

}  // namespace jprof::engine
