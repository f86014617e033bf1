// Finds the profiles that `jprof profile --save NAME` saves: those of a name are in the user's data
// directory; a name with a slash is a path.
#pragma once

#include <filesystem>
#include <string>

#include "common/result.h"

namespace jprof::cli {

// Returns ${XDG_DATA_HOME:-$HOME/.local/share}/jprof/saved/NAME.jprof, or the name if it is a path.
// Fails with kWrongUse if it cannot be the name of a file.
Result<std::filesystem::path> SavedPlace(const std::string& name);

// Returns what `named` names: a directory if it exists, else a profile that was saved under this
// name, else `named` itself.
std::string SavedOr(const std::string& named);

// Returns the profile that was saved under this name. Fails with kWrongUse if there is none; the
// message lists the names that exist.
Result<std::string> SavedProfile(const std::string& name);

// Returns where a profile is recorded before it is saved, and makes its folder. A profile that is
// already saved stays until the new one is complete.
Result<std::filesystem::path> PrepareSave(const std::string& name);

// Replaces the saved profile by the one that was recorded where PrepareSave said, and returns its
// path.
Result<std::filesystem::path> Save(const std::string& name);

}  // namespace jprof::cli
