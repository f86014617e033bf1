// Opens what `export` and `push` read: a profile, a combined profile or a trace of instructions.
#pragma once

#include <string>
#include <vector>

#include "cli/shared/command_line.h"
#include "cli/shared/profile_source.h"
#include "common/result.h"
#include "reports/export/export_list.h"

namespace jprof::cli {

struct ExportChoice {
  std::string directory;  // empty for the newest profile here
  std::string threads = "separate";
  std::string metric;
  TableChoice table;
};

// Adds PROFILE, --threads, --metric and the options of the calibration table. `choice` must outlive
// the app.
void AddExportOptions(CommandLine line, ExportChoice& choice);

// Does the same for a command that takes several profiles.
void AddExportOptions(CommandLine line, std::vector<std::string>& profiles, ExportChoice& choice);

// Fails if the profile cannot be opened, or if --metric or --threads do not fit it.
Result<reports::ExportInput> OpenForExport(const ExportChoice& choice);

}  // namespace jprof::cli
