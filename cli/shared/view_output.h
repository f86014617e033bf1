// Writes the HTML view of what is named on the command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/shared/profile_source.h"

namespace jprof::cli {

// Writes the view of a profile, of a combined profile, of a recording of tprof or itrace, of a heap
// dump, or of two profiles, to the file `out`, or to standard output if it is "-". If it fails,
// nothing is left of the file.
Result<void> WriteView(const std::vector<std::string>& named, const TableChoice& table,
                       const std::string& out);

// Returns NAME.html for a profile NAME.jprof.
std::string ViewName(const std::string& profile);

}  // namespace jprof::cli
