// Measures the clock of a session when it starts, and derives how timed events are evaluated.
#pragma once

#include <cstdint>

namespace jprof::engine {

// Describes the clock that events read.
struct ClockProperties {
  double ticks_per_second = 1e9;
  double read_ticks = 0;            // cost of one clock read in a series
  double timer_overhead_ticks = 0;  // as a timed event around nothing measures it
  int64_t granularity = 1;          // in ticks
};
// Measures the clock. Waits about 10 ms for that.
ClockProperties MeasureClock();

// Describes how timed events represent the others, in ticks. One event in `period` is timed.
struct EventTiming {
  uint32_t period = 1;
  // The timer overhead that a timed event must not count as the handlers' for which it stands.
  int64_t timer_overhead = 0;
  int64_t residue = 0;         // the share of it that each of the period's intervals keeps
  int64_t longest_update = 0;  // a handler that takes longer has done more than update the tree
};
// Returns the timing where one event in `period`, which is at least 1, is timed.
EventTiming TimingOf(const ClockProperties& clock, uint32_t period);

}  // namespace jprof::engine
