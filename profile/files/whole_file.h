// Writes a small file so that readers find all of it or none of it.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace jprof::profile {

// Writes PATH.tmp, or the file `temporary` in the same folder, and renames it to `path`, replacing
// an existing file. If it fails, nothing is changed.
Result<void> WriteWholeFile(const std::string& path, std::string_view text,
                            std::string temporary = {});

}  // namespace jprof::profile
