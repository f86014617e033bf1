// What `report` and `compare` share on the command line: the choice of a calibration table, and
// the exit status.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/profile_source.h"
#include "common/result.h"

namespace jprof::cli {

// --uncalibrated, --table, --force. `choice` outlives the app.
void AddTableOptions(CLI::App& command, TableChoice& choice);

// The exit status of a command that is done; prints the error of one that failed.
int StatusOf(const Result<void>& done);

}  // namespace jprof::cli
