// Copies a profile.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "common/result.h"
#include "record/run/scoped_user.h"

namespace jprof::record {

// Copies the files of the profile `from` into the directory `to`, which must not exist. Copies only
// regular files that belong to a profile (profile/files/file_list.h), with their holes, and as they
// are at this moment if the profile is being written. Reads with the rights of `reader`, who may
// have made links and mounts in `from`. If it fails, the copy is incomplete.
Result<void> CopyProfile(const std::filesystem::path& from, const std::filesystem::path& to,
                         UserIds reader = UserIds::Own());

// Copies the first `size` bytes of an open file into an empty one, with their holes.
// Returns 0, or an errno.
int CopyData(int from, int to, off_t size);

}  // namespace jprof::record
