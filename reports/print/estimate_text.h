// Formats estimated times in ns for reports, in the unit that fits: a value and half of its 95 %
// interval, or only the upper end where the interval is wider than the value.
#pragma once

#include <string>

#include "model/values/statistics.h"

namespace jprof::reports {

// Returns "~700 us", an estimate that has few samples behind it.
std::string EstimatedText(double value);
// Returns "12.3 ms", or "<45.6 ms" where the interval is wider than the value.
std::string BoundedText(const model::Estimate& estimate);
// Returns half of the interval, or an empty text where BoundedText returns a bound.
std::string HalfText(const model::Estimate& estimate);

// A time as the samples show it, or estimated where they are few.
struct ShownTime {
  model::Estimate sampled;
  bool is_estimated = false;
  double estimated = 0;
};
// Returns the time of one call, with the calls to divide by. Requires calls above 0.
ShownTime OfOneCall(const ShownTime& whole, uint64_t calls);
std::string ValueText(const ShownTime& time);
// Returns half of the interval or, for an estimate, the upper end as "<45.6 ms".
std::string ArmText(const ShownTime& time);

// Precedes a time per entry, where the outermost calls of a recursion are not known.
inline constexpr char kPerEntry[] = "r";

}  // namespace jprof::reports
