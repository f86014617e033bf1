// What a recording command says when the program has ended.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/launcher.h"
#include "options/agent_options.h"

namespace jprof::cli {

// Three lines on stderr for each profile: where it is, what was lost, what to type next. Puts the
// fitting calibration table into it. False: a filter of `options` let nothing through.
bool Conclude(const std::filesystem::path& profile, const agent::AgentOptions& options);

// `path` as the user would type it: relative if it is below the working directory, quoted if need
// be.
std::string Shown(const std::filesystem::path& path);

}  // namespace jprof::cli
