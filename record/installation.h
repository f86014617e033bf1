// Finds the files of this program, in the build tree and in an installation.
#pragma once

#include <filesystem>
#include <string>

#include "common/result.h"

namespace jprof::record {

// The folder above bin/: of lib/libjprof.so, share/jprof and so on.
std::filesystem::path InstallationRoot();

// The agent library, absolute: `option` (--agent) if given, else JPROF_AGENT, else the one of this
// installation. Wrong use: it does not exist.
Result<std::filesystem::path> FindAgent(const std::string& option);

}  // namespace jprof::record
