// Files that others wrote, read whole with a bound.
#pragma once

#include <cstddef>
#include <string>

#include "common/result.h"

namespace jprof::a2n {

// The first `most` bytes of a regular file (of /proc too). Never waits, as for a pipe that somebody
// put in its place. Error: the reason only, without the path. `cut`: set if there was more.
Result<std::string> ReadSmallFile(const std::string& path, size_t most, bool* cut = nullptr);

}  // namespace jprof::a2n
