// Finds the files of this program, in the build tree and in an installation. An
// installation has the libraries in lib/jprof/, as only jprof loads them by their path; the
// build tree has them in lib/.
#pragma once

#include <filesystem>
#include <string>

#include "common/result.h"

namespace jprof::record {

// Returns the folder above bin/, which has lib/libjprof.so, share/jprof and so on.
std::filesystem::path InstallationRoot();

// Returns the path of one of jprof's libraries, which may not exist.
std::filesystem::path LibraryPath(const std::string& name);

// Returns the path of the trainers' classes, which a build without a JDK lacks.
std::filesystem::path TrainersPath();

// Returns the absolute path of the agent library: `option` (--agent) if given, else JPROF_AGENT,
// else that of this installation. Fails with kWrongUse if it does not exist.
Result<std::filesystem::path> FindAgent(const std::string& option);

}  // namespace jprof::record
