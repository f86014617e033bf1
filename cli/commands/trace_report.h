// Prints the outputs of `report` and `info` for a trace of `jprof itrace`.
#pragma once

#include <string>

#include "cli/shared/command_line.h"
#include "reports/itrace/arc.h"

namespace jprof::cli {

// Adds the options that only report arc has. `options` must outlive the command line.
void AddArcOptions(CommandLine line, reports::Options& options);

// Prints the output of `jprof info`, as text or with `json` as JSON.
Result<void> DescribeTrace(const std::string& directory, bool json);

}  // namespace jprof::cli
