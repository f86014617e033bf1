/* The arithmetic of the clock in the metadata. Pure. */
#pragma once

#include <stdint.h>

/* The Unix time at tick 0 as Common Trace Format has it. */
typedef struct {
  int64_t seconds;
  uint64_t ticks; /* below one second */
} jprof_events_offset;

/* Returns it for a counter that has `ticks` at the time `unix_time` in ns. It is below 0 if the
 * counter has counted since 1970, as emulated ones do, because the frequency is not exact. */
static inline jprof_events_offset jprof_events_offset_of(uint64_t unix_time, uint64_t ticks,
                                                         uint64_t per_second) {
  const __int128 second = per_second;
  const __int128 offset = unix_time * second / 1000000000 - ticks;
  __int128 rest = offset % second;
  if (rest < 0) rest += second;
  const jprof_events_offset split = {(int64_t)((offset - rest) / second), (uint64_t)rest};
  return split;
}
