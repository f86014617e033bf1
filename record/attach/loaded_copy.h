// Finds the agent in a JVM that has loaded it before, under any name. A JVM never unloads it, and
// loads the same library again if its file has another name: two copies do not know of each other,
// and each takes memory and thread-local storage.
#pragma once

#include <filesystem>
#include <string>

#include "record/attach/attach_target.h"

namespace jprof::record {

// Returns the path, as the JVM names it, of a loaded copy of this library, or an empty
// text if there is none or it cannot be read. The file may have been removed: the JVM does
// not read it again.
std::string LoadedCopy(const AttachTarget& target, const std::filesystem::path& library);

}  // namespace jprof::record
