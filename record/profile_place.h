// Where a new profile goes. The agent makes the directory; this makes sure before the start that it
// can.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"

namespace jprof::record {

// A name in the working directory that is free: NAME.jprof, NAME-2.jprof, ...
std::filesystem::path FreePlace(const std::string& name);

// Makes sure that `place` does not exist and can be made; answers it as an absolute path. What is
// there already: an empty directory is removed; with `force` a profile too; everything else is an
// error. All errors are exit code 2.
Result<std::filesystem::path> PreparePlace(const std::filesystem::path& place, bool force);

bool IsProfile(const std::filesystem::path& directory);

// `place` and place.PID, those that are profiles: the JVMs of one --children run, oldest first.
std::vector<std::filesystem::path> ProfilesAt(const std::filesystem::path& place);

}  // namespace jprof::record
