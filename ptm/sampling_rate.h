// Limits the rate of a timer, given the cost of one interrupt. Pure.
//
// A timer whose period is near the cost of its interrupt leaves the program no time; if it is
// shorter, the processor stalls. So no period is shorter than kLeastCosts interrupts, unless that
// is forced, and none is shorter than kShortestClockPeriod.
#pragma once

#include <cstdint>
#include <string>

#include "ptm/event_spec.h"

namespace jprof::ptm {

// The shortest period of a timer, in ns: 20,000 samples a second. The kernel accepts shorter ones,
// but an interrupt takes 22 to 33 us on virtual machines, and a thread whose timer expires before
// the interrupt ends never makes progress.
inline constexpr uint64_t kShortestClockPeriod = 50'000;
inline constexpr uint64_t kMostRate = 1'000'000'000 / kShortestClockPeriod;

inline constexpr uint64_t kLeastCosts = 5;

// The assumed cost of an interrupt where it was not measured, and the range of plausible values.
inline constexpr uint64_t kAssumedInterruptNs = 40'000;
inline constexpr uint64_t kLeastInterruptNs = 200;
inline constexpr uint64_t kMostInterruptNs = 500'000;

// Rates up to this one are never lowered, whatever the cost of an interrupt.
inline constexpr uint64_t kAlwaysFineRate = 1'000'000'000 / (kLeastCosts * kMostInterruptNs);

struct LimitedRate {
  uint64_t rate = 0;   // samples a second; never above the requested rate, never 0
  std::string reason;  // "sampling at 6,000/s instead of 10,000/s: ..."; empty if as requested
};
// Limits `rate`, which is 1 to kMostRate. An `interrupt_ns` of 0 was not measured;
// kAssumedInterruptNs is used.
LimitedRate LimitRate(uint64_t rate, uint64_t interrupt_ns, bool forced);

// Returns the rate of one sample every `period` ns, rounded up.
uint64_t RateOf(uint64_t period);

// Returns whether the event's period is in ns of a timer, as for cpu-clock and task-clock.
bool CountsTime(const EventSpec& event);

}  // namespace jprof::ptm
