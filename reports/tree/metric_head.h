// Prints what the head of a report states about its metrics: their units, what they were calibrated
// with, or how they were sampled. Formats single values in the unit of their metric.
#pragma once

#include <string>
#include <string_view>

#include "model/tree/forest.h"
#include "reports/print/columns.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Prints the methods that were partly counted, then one line per metric: its unit, whether and by
// what it is calibrated, how much was removed, and its uncertainty.
void PrintMetrics(const model::Source& source, const model::Forest& forest, Output& out);

// Prints the number of methods some of whose calls may have been executed by intrinsics and not
// counted. Prints nothing if there are none.
void PrintPartlyCounted(const model::Names& names, Output& out);

// Writes the member "metrics" of a JSON report.
void JsonMetrics(const model::Forest& forest, JsonWriter& json);

// Returns a sum of raw values in the metric's unit, times in the unit that suits their size.
std::string AmountText(const model::MetricTotals& column, double raw);

// Returns whether text shows the metric's values as durations.
inline bool ShowsDurations(const model::MetricTotals& column) { return column.info.unit == "ns"; }
// Returns a raw value of the metric as text shows it.
Value ShownValue(const model::MetricTotals& column, double raw);
// Returns a row's BASE for text: the corrected value, or "<X" with the upper end of its 95 %
// interval where that interval is wider than the value. Values below 0 are 0.
Value BaseValue(const model::MetricTotals& column, const model::Cell& cell);
// Returns a raw value in percent of the metric's sum over the profile.
double PercentOfWhole(const model::MetricTotals& column, double raw);

}  // namespace jprof::reports
