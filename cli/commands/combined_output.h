// Ends `jprof profile` and `jprof combine`: writes runs.json and prints the report.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "common/result.h"
#include "profile/read/combined.h"

namespace jprof::cli {

// Makes `directory`, which has the profiles of `meta`, a combined profile.
Result<void> WriteRuns(const std::filesystem::path& directory, const profile::CombinedMeta& meta);

// Prints the report of a combined profile, with the contexts of 1 % of the time or more.
Result<void> PrintCombinedReport(const std::filesystem::path& directory, std::FILE* to);

}  // namespace jprof::cli
