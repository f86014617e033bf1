// Finds the files of this program, in the build tree and in an installation. An installation has
// the libraries in lib/jprof/, as only jprof loads them by their path; the build tree has them in
// lib/.
#pragma once

#include <filesystem>
#include <string>

#include "common/result.h"

namespace jprof::record {

// The folder above bin/: of lib/libjprof.so, share/jprof and so on.
std::filesystem::path InstallationRoot();

// The path of one of jprof's libraries; it may not exist.
std::filesystem::path LibraryPath(const std::string& name);

// The path of the trainers' classes, which a build without a JDK lacks.
std::filesystem::path TrainersPath();

// The agent library, absolute: `option` (--agent) if given, else JPROF_AGENT, else the one of this
// installation. Wrong use: it does not exist.
Result<std::filesystem::path> FindAgent(const std::string& option);

}  // namespace jprof::record
