// Where a new profile goes. The agent creates the directory; this checks before the start that it
// can.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"

namespace jprof::record {

// A name in the working directory that is free: NAME.jprof, NAME-2.jprof, ...
std::filesystem::path FreePlace(const std::string& name);

// Makes sure that `place` does not exist and can be created; returns it as an absolute path.
// Removes an empty directory, and with `force` a profile. Anything else there is wrong use.
Result<std::filesystem::path> PreparePlace(const std::filesystem::path& place, bool force);

bool IsProfile(const std::filesystem::path& directory);

// The profiles among `place` and place.PID, which the JVMs of a run with --children made; the
// oldest first.
std::vector<std::filesystem::path> ProfilesAt(const std::filesystem::path& place);

}  // namespace jprof::record
