// Reads the executable mappings of a process.
#pragma once

#include <string_view>
#include <vector>

#include "a2n/a2n.h"

namespace jprof::a2n {

// Parses the text of a maps file of the proc file system. Returns the executable mappings;
// anonymous memory has the path "//anon".
std::vector<Mapping> ParseMaps(std::string_view text);

// Reads those of a process, or of this one if `pid` is procfs::kSelf. Fails with a message that
// names the file.
Result<std::vector<Mapping>> ReadMaps(Pid pid);

}  // namespace jprof::a2n
