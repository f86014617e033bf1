// Formats estimated times for reports: a value and half of its 95 % interval, or only the upper end
// where the interval is wider than the value.
#pragma once

#include <string>

#include "model/values/statistics.h"

namespace jprof::reports {

using NumberText = std::string(double value);
NumberText Milliseconds;  // of ns; one decimal below 100 ms
NumberText PerCall;       // of ns; one decimal below 1000

// Returns "~0.7", an estimate that has few samples behind it.
std::string EstimatedText(double value, NumberText* text);
// Returns "12.3", or "<45.6" where the interval is wider than the value.
std::string BoundedText(const model::Estimate& estimate, NumberText* text);
// Returns half of the interval, or an empty text where BoundedText returns a bound.
std::string HalfText(const model::Estimate& estimate, NumberText* text);

// A time as the samples show it, or estimated where they are few.
struct ShownTime {
  model::Estimate sampled;
  bool is_estimated = false;
  double estimated = 0;
};
// Returns the time of one call, with the calls to divide by. Requires calls above 0.
ShownTime OfOneCall(const ShownTime& whole, uint64_t calls);
std::string ValueText(const ShownTime& time, NumberText* text);
// Returns half of the interval or, for an estimate, the upper end as "<45.6".
std::string ArmText(const ShownTime& time, NumberText* text);

// Marks a time per entry, where the outermost calls of a recursion are not known.
inline constexpr char kPerEntry[] = "r";

}  // namespace jprof::reports
