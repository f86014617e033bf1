// The directory of a new profile. The agent creates it; these functions check in advance that it
// can.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"

namespace jprof::record {

// An unused name in the working directory: NAME.jprof, NAME-2.jprof, ...
std::filesystem::path FreePlace(const std::string& name);

// Makes sure that `place` does not exist and can be created; returns it as an absolute path.
// Removes an empty directory, and with `force` a profile or a combined profile. Anything else there
// is wrong use.
Result<std::filesystem::path> PreparePlace(const std::filesystem::path& place, bool force);

// Makes the directory of a combined profile.
Result<void> MakePlace(const std::filesystem::path& place);

bool IsProfile(const std::filesystem::path& directory);

// The profiles among `place` and place.PID, which the JVMs of a run with --children create; the
// oldest first.
std::vector<std::filesystem::path> ProfilesAt(const std::filesystem::path& place);

}  // namespace jprof::record
