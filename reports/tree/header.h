// Prints the head of a report: what was profiled, how far to trust it, what is missing, what the
// columns mean.
#pragma once

#include "model/tree/forest.h"
#include "reports/print/columns.h"
#include "reports/print/formats.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Prints the title, the run and the threads. `report` is the report's name.
void PrintRun(const model::Source& source, std::string_view report, Output& out);

// Prints the methods that were partly counted, then one line per metric: its unit, whether and by
// what it is calibrated, how much was removed, and its uncertainty.
void PrintMetrics(const model::Source& source, const model::Forest& forest, Output& out);

// Prints the number of methods some of whose calls may have been executed by intrinsics and not
// counted. Prints nothing if there are none.
void PrintPartlyCounted(const model::Names& names, Output& out);

// Prints the share of the CPU time that the stacks cover, their number, quality and cost. Prints
// nothing if no stacks were taken.
void PrintStacks(const model::Source& source, Output& out);

// Writes the same as the member "stacks" of a JSON report.
void JsonStacks(const model::Source& source, JsonWriter& json);

// Returns "1.234 s elapsed", or that the run is not finished.
std::string ElapsedText(const profile::ControlHeader& header);

// Returns a sum of raw values in the metric's unit, times in the unit that suits their size.
std::string AmountText(const model::MetricTotals& column, double raw);

// Returns a row's BASE for text: the corrected value, or "<X" with the upper end of its 95 %
// interval where that interval is wider than the value. Values below 0 are 0.
Value BaseValue(const model::MetricTotals& column, const model::Cell& cell);
// Returns the line of a legend that explains "<X", or an empty text if nothing is calibrated.
std::string_view BoundLegend(const model::Forest& forest);

// Prints losses and damages, or one line if there are none.
void PrintLosses(const model::Source& source, Output& out);

// Adds remarks for formats without a head, about what the head would report as missing and about
// folded recursion. Standard error reports them.
void RemarkLosses(const model::Source& source, Format format, Output& out);

// Writes the member "metrics" of a JSON report.
void JsonMetrics(const model::Forest& forest, JsonWriter& json);

// Writes the members "losses" and "damages" of a JSON report.
void JsonLosses(const model::Source& source, JsonWriter& json);

// Writes the members "report" and "profile", which describe the run.
void JsonRun(const model::Source& source, std::string_view report, JsonWriter& json);

}  // namespace jprof::reports
