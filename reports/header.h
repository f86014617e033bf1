// The head of a text report: what was profiled, how far to trust it, what is missing, what the
// columns mean.
#pragma once

#include "reports/columns.h"
#include "reports/forest.h"
#include "reports/json_writer.h"
#include "reports/output.h"

namespace jprof::reports {

// Title, run, threads. `report`: its name.
void PrintRun(const Source& source, std::string_view report, Output& out);

// The methods that were partly counted; then one line a metric: unit, calibrated or not and by
// what, how much was removed, uncertainty.
void PrintMetrics(const Source& source, const Forest& forest, Output& out);

// The number of methods some of whose calls may have been answered by intrinsics and not counted.
// Prints nothing if there are none.
void PrintPartlyCounted(const Names& names, Output& out);

// The stacks that were taken: the share of the CPU time that they cover, their number, quality and
// cost. Prints nothing if there are none.
void PrintStacks(const Source& source, Output& out);

// The same as the member "stacks" of a JSON report.
void JsonStacks(const Source& source, JsonWriter& json);

// "1.234 s elapsed", or that the run is not finished.
std::string ElapsedText(const profile::ControlHeader& header);

// A sum of raw values in the metric's unit, times in the unit that suits their size.
std::string AmountText(const MetricTotals& column, double raw);
// The same of a value that is in `unit` already.
std::string AmountIn(const std::string& unit, double value);

// A row's BASE in text: the corrected value, or "<X" with the upper end of its 95 % interval where
// that interval is wider than the value. Values below 0 are 0.
Value BaseValue(const MetricTotals& column, const Cell& cell);
// The line of a legend that says so; empty if nothing is calibrated.
std::string_view BoundLegend(const Forest& forest);

// Losses and damages; one line if there are none.
void PrintLosses(const Source& source, Output& out);

// For formats without a head, adds remarks, which standard error reports, about what the head would
// report as missing and about folded recursion.
void RemarkLosses(const Source& source, Format format, Output& out);

// The member "metrics" of a JSON report.
void JsonMetrics(const Forest& forest, JsonWriter& json);

// The members "losses" and "damages" of a JSON report.
void JsonLosses(const Source& source, JsonWriter& json);

// The members "report" and "profile": which run this was.
void JsonRun(const Source& source, std::string_view report, JsonWriter& json);

}  // namespace jprof::reports
