// The code that a process has mapped.
#pragma once

#include <string_view>
#include <vector>

#include "a2n/a2n.h"

namespace jprof::a2n {

// The executable mappings; anonymous memory has the path "//anon". The text is that of a file maps
// in the proc file system.
std::vector<Mapping> ParseMaps(std::string_view text);

// Those of a process; procfs::kSelf: this one. Error: names the file.
Result<std::vector<Mapping>> ReadMaps(Pid pid);

}  // namespace jprof::a2n
