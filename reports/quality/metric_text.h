// Formats the amounts of a metric, and how it was sampled, for heads and facts.
#pragma once

#include <span>
#include <string>

#include "model/tree/forest.h"

namespace jprof::reports {

// Returns a sum of raw values in the metric's unit, times in the unit that suits their size.
std::string AmountText(const model::MetricTotals& column, double raw);

// Returns the interval between two samples, such as "1.00 ms of CPU time".
std::string PeriodText(const profile::Metric& info);

// Returns "one every 1.00 ms of CPU time (1000 a second)", or "each event".
std::string RateText(const profile::Metric& info);

// Returns "1234 bytes by 5 samples", or "5 samples" if each sample is one.
std::string SampledText(std::span<const model::MetricTotals> metrics, size_t m);

// Returns whether the weighted metric before it has this number of samples, and prints it.
bool IsPrintedBefore(std::span<const model::MetricTotals> metrics, size_t m);

}  // namespace jprof::reports
