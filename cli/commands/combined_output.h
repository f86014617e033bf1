// Ends `jprof profile` and `jprof combine`: prints the report and the next command.
#pragma once

#include <cstdio>
#include <filesystem>

#include "common/result.h"

namespace jprof::cli {

// Prints the report of a combined profile, as much as fits a screen, to `to`, and the command that
// helps most now to stderr.
Result<void> PrintCombinedReport(const std::filesystem::path& directory, std::FILE* to);

}  // namespace jprof::cli
