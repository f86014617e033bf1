// What one expiration of a thread's timer costs that thread, measured: the interrupt, what a
// hypervisor does for it, and the signal. A spinning thread reads the time stamp counter all the
// time, while a timer expires 500 times a second; the reading that comes late is the cost.
#pragma once

#include <cstdint>
#include <span>

#include "common/result.h"

namespace jprof::ptm {

// The median of `ticks`, which are the distances of two readings with an expiration between them,
// less `plain`, the distance without. In ns. Error: too few, or no figure that a machine can have
// (kLeastInterruptNs to kMostInterruptNs).
Result<uint64_t> InterruptNanos(std::span<const int64_t> ticks, int64_t plain, double ticks_per_ns);

// Takes `milliseconds` of the calling thread, up to four times as long on a busy machine. The
// thread must not block SIGPROF; nobody else may use that signal meanwhile. Harmless at any cost
// that is believed.
Result<uint64_t> MeasureInterruptNanos(int milliseconds = 500);

}  // namespace jprof::ptm
