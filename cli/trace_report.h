// What `report` and `info` print of a trace of `jprof itrace`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "reports/arc.h"

namespace jprof::cli {

// Adds the options that only report arc has. `options` must outlive the app.
void AddArcOptions(CLI::App& command, reports::ArcOptions& options);

// report arc. Error: not such a trace, or an option does not fit it.
Result<void> PrintTraceReport(const std::string& directory, const reports::ArcOptions& options);

// jprof info. `json`: instead of text.
Result<void> DescribeTrace(const std::string& directory, bool json);

}  // namespace jprof::cli
