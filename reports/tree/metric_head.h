// Describes the metrics of a report for its head, and formats the values of rows.
#pragma once

#include <string_view>

#include "model/tree/forest.h"
#include "reports/print/columns.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"
#include "reports/quality/head.h"

namespace jprof::reports {

// Returns the head of a report of a call tree, with what each metric measured in all, and what was
// subtracted, or how it was sampled.
Head ForestHead(const model::Source& source, const model::Forest& forest, std::string_view report);

// Writes the member "metrics" of a JSON report.
void JsonMetrics(const model::Forest& forest, JsonWriter& json);

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
