// The summary that a recording command prints when the program has ended.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "options/agent_options.h"
#include "record/jvm_profiles.h"

namespace jprof::record {

// Prints the summary of a profile on stderr: its path, losses, and the next command. Copies the
// matching calibration table into the profile. Returns false if a filter of `options` matched
// nothing.
bool PrintSummary(const std::filesystem::path& profile, const agent::AgentOptions& options);

// Prints the summary of the profiles of several JVMs in `place`, the busiest first: one line each,
// and the next command for the busiest. Else as PrintSummary.
bool PrintSummaries(const std::filesystem::path& place, const std::vector<JvmProfile>& profiles,
                    const agent::AgentOptions& options);

// "24 threads, 512 methods, lost nothing": the summary of a profile in one line. Copies the
// matching calibration table into a profile with times.
std::string SummaryLine(const std::filesystem::path& profile);

// `path` as the user would type it: relative if it is below the working directory, quoted for a
// shell if necessary.
std::string DisplayPath(const std::filesystem::path& path);

}  // namespace jprof::record
