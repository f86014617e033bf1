// Copies a profile.
#pragma once

#include <filesystem>

#include "common/result.h"

namespace jprof::record {

// Copies the files of the profile `from` into the directory `to`, which must not exist. Copies only
// regular files that belong to a profile (profile/files.h), with their holes, and as they are at
// this moment if the profile is being written. Error: the copy is incomplete.
Result<void> CopyProfile(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace jprof::record
