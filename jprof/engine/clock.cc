#include "jprof/engine/clock.h"

#include <cmath>

#include "ptm/virtual_clock.h"

namespace jprof::engine {

ClockProperties MeasureClock() {
  ClockProperties clock;
  clock.ticks_per_second = ptm::MeasureTicksPerSecond(10);
  clock.read_ticks = ptm::MeasureReadTicks();
  clock.granularity = ptm::MeasureGranularity();
  clock.timer_overhead_ticks = ptm::MeasureTimerOverhead();
  return clock;
}

EventTiming TimingOf(const ClockProperties& clock, uint32_t period) {
  const int64_t overhead = std::llround((period - 1) * clock.timer_overhead_ticks);
  return {.period = period,
          .timer_overhead = overhead,
          .residue = overhead / period,
          .longest_update = std::llround(clock.ticks_per_second / 1e9 * 1000)};  // 1 us
}

}  // namespace jprof::engine
