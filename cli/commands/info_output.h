// Prints what `jprof info` reports of a profile.
#pragma once

#include "cli/commands/profile_info.h"
#include "reports/print/output.h"

namespace jprof::cli {

// Prints a line for each value that is not empty.
void PrintInfoText(const ProfileInfo& info, reports::Output& out);

// Prints one object. Profiles without calls lack the members that describe calls.
void PrintInfoJson(const ProfileInfo& info, reports::Output& out);

}  // namespace jprof::cli
