// Prints the summary of a recording command when the program has ended.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "options/agent_options.h"
#include "record/place/jvm_profiles.h"

namespace jprof::record {

// Prints the summary of a profile on stderr: its path, losses, and the next command.
// Copies the matching calibration table into the profile. Returns false if a filter of
// `options` matched nothing.
bool PrintSummary(const std::filesystem::path& profile, const options::AgentOptions& options);

// Prints the summary of the profiles of several JVMs in `place`, the busiest first: one line each,
// and the next command for the busiest. Otherwise does what PrintSummary does.
bool PrintSummaries(const std::filesystem::path& place, const std::vector<JvmProfile>& profiles,
                    const options::AgentOptions& options);

// Returns the summary of a profile in one line: "24 threads, 512 methods, lost nothing". Copies the
// matching calibration table into a profile with times.
std::string SummaryLine(const std::filesystem::path& profile);

// Copies the matching calibration table, if there is one, into the profile.
void KeepTable(const std::filesystem::path& profile);

// Returns `path` as the user would type it: relative if it is below the working directory, quoted
// for a shell if necessary.
std::string DisplayPath(const std::filesystem::path& path);

}  // namespace jprof::record
