// What `report` and `compare` share on the command line: the choice of a calibration table.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/profile_source.h"

namespace jprof::cli {

// --uncalibrated, --table, --force. `choice` outlives the app.
void AddTableOptions(CLI::App& command, TableChoice& choice);

}  // namespace jprof::cli
