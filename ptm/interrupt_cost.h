// Measures the cost of one expiration of a thread's timer to that thread: the interrupt, the
// hypervisor's part of it, and the signal. A spinning thread reads the time stamp counter
// continuously while a timer expires 500 times a second; the delay of a late reading is the cost.
#pragma once

#include <cstdint>
#include <span>

#include "common/result.h"

namespace jprof::ptm {

// Returns in ns the median of `ticks`, the intervals between two readings that contain an
// expiration, minus `plain`, the interval without one. Fails if there are too few values or the
// result is not within kLeastInterruptNs to kMostInterruptNs.
Result<uint64_t> InterruptNanos(std::span<const int64_t> ticks, int64_t plain, double ticks_per_ns);

// Measures the cost. Uses `milliseconds` of the calling thread, up to four times as long on a busy
// machine. The thread must not block SIGPROF, and no other code may use that signal meanwhile. Safe
// for any plausible cost.
Result<uint64_t> MeasureInterruptNanos(int milliseconds = 500);

}  // namespace jprof::ptm
