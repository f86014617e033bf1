// The head of a text report: what was profiled, how far to trust it, what is missing, what the columns mean.
#pragma once

#include "reports/forest.h"
#include "reports/output.h"

namespace jprof::reports {

// Title, run, threads. `report`: its name.
void PrintRun(const Source& source, std::string_view report, Output& out);

// One line a metric: unit, calibrated or not and by what, how much was removed, uncertainty.
void PrintMetrics(const Source& source, const Forest& forest, Output& out);

// What is missing and what is damaged; one line if nothing is.
void PrintLosses(const Source& source, Output& out);

// "metrics":[...], of a JSON report.
void JsonMetrics(const Forest& forest, Output& out);

// "losses":{...},"damages":[...] of a JSON report.
void JsonLosses(const Source& source, Output& out);

// "profile":{...}: which run this was.
void JsonRun(const Source& source, std::string_view report, Output& out);

}  // namespace jprof::reports
