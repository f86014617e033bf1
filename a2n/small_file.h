// Reads untrusted files with a size limit.
#pragma once

#include <cstddef>
#include <string>

#include "common/result.h"

namespace jprof::a2n {

// Returns the first `most` bytes of a regular file (also in /proc), and sets `cut` if the file
// is longer. Never blocks, not even if the path is a pipe. Fails with only the reason, without
// the path.
Result<std::string> ReadSmallFile(const std::string& path, size_t most, bool* cut = nullptr);

}  // namespace jprof::a2n
