// Prints the outputs of `info` and declares options of `report` for events of the kernel.
#pragma once

#include <string>

#include "cli/shared/command_line.h"
#include "common/result.h"
#include "reports/print/options.h"

namespace jprof::cli {

// Adds the options that only report critical-path has. `options` must outlive the command line.
void AddPathOptions(CommandLine line, reports::Options& options);

// Describes a recording of jprof timeline or jprof system-trace, as text or with `json` as JSON.
// Fails if its events cannot be read.
Result<void> DescribeEvents(const std::string& directory, bool json);

}  // namespace jprof::cli
