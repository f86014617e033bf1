// Opens what `export` and `push` read: a profile, a combined profile or a trace of instructions.
#pragma once

#include <optional>
#include <string>

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

// An open profile. Input returns a view of it, which it must outlive.
struct ExportSource {
  std::optional<reports::Source> source;
  std::optional<reports::Combined> combined;
  std::optional<reports::ArcRecording> arcs;
  std::string name;

  reports::ExportInput Input(const ExportChoice& choice);
};

// Adds PROFILE, --threads, --metric and the options of the calibration table. `choice` must outlive
// the app.
void AddExportOptions(CommandLine line, ExportChoice& choice);

// Fails if the profile cannot be opened, or if --metric or --threads do not fit it.
Result<ExportSource> OpenForExport(const ExportChoice& choice);

}  // namespace jprof::cli
