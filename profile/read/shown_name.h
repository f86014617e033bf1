// What a directory is called in what is printed. A directory that was made of something else for a
// while, as of what a server has, is called by the name of that; any other by its path.
//
// The names are known to the process that has made the directories. Not thread-safe.
#pragma once

#include <string>

namespace jprof::profile {

// Gives the directory a name. Requires that it has none yet, and that nobody keeps a reference that
// ShownName has returned for it.
void SetShownName(const std::string& directory, std::string name);

// Returns the name of the directory, or its path if it has none. The reference is valid as long as
// `directory` is.
const std::string& ShownName(const std::string& directory);

}  // namespace jprof::profile
