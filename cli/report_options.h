// The options that `report` and `compare` share: the choice of a calibration table.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/profile_source.h"

namespace jprof::cli {

// Adds --uncalibrated, --table and --force. `choice` must outlive the app.
void AddTableOptions(CLI::App& command, TableChoice& choice);

}  // namespace jprof::cli
