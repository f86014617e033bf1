// Implements the options that `report`, `compare` and `calibrate` share: the choice of a
// calibration table, and the samples that it is refitted to.
#pragma once

#include <string>
#include <vector>

#include "cli/shared/command_line.h"
#include "cli/shared/profile_source.h"

namespace jprof::cli {

// Adds --uncalibrated, --table and --force. `choice` must outlive the app.
void AddTableOptions(CommandLine line, TableChoice& choice);

// A counted run and the sampled runs of the same program.
struct CountedAndSampled {
  model::Source counted;
  std::vector<model::Source> sampled;
};

// Opens the profiles. If `sampled` is empty, `counted` is a combined profile, whose counted run and
// sampled runs are opened. Fails if it is no combined profile, or if a profile cannot be opened.
Result<CountedAndSampled> OpenCountedAndSampled(const std::string& counted,
                                                const std::vector<std::string>& sampled,
                                                const TableChoice& choice);

}  // namespace jprof::cli
