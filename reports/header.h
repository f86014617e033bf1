// The head of a text report: what was profiled, how far to trust it, what is missing, what the
// columns mean.
#pragma once

#include "reports/forest.h"
#include "reports/output.h"

namespace jprof::reports {

// Title, run, threads. `report`: its name.
void PrintRun(const Source& source, std::string_view report, Output& out);

// One line a metric: unit, calibrated or not and by what, how much was removed, uncertainty.
void PrintMetrics(const Source& source, const Forest& forest, Output& out);

// One line on the stacks that were taken: how many, how good, what one cost. Nothing if none were.
void PrintStacks(const Source& source, Output& out);

// ",\"stacks\":{...}" of a JSON report: the same.
void JsonStacks(const Source& source, Output& out);

// A sum of raw values in the metric's unit, times in the unit that suits their size.
std::string AmountText(const Column& column, double raw);
// The same of a value that is in `unit` already.
std::string AmountIn(const std::string& unit, double value);

// What is missing and what is damaged; one line if nothing is.
void PrintLosses(const Source& source, Output& out);

// "metrics":[...], of a JSON report.
void JsonMetrics(const Forest& forest, Output& out);

// "losses":{...},"damages":[...] of a JSON report.
void JsonLosses(const Source& source, Output& out);

// "profile":{...}: which run this was.
void JsonRun(const Source& source, std::string_view report, Output& out);

}  // namespace jprof::reports
