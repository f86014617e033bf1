// The text of /proc/PID/maps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "a2n/a2n.h"

namespace jprof::a2n {

// The executable ones; what has no name is "//anon". Lines that cannot be read are passed over.
std::vector<Mapping> ParseMaps(std::string_view text);

}  // namespace jprof::a2n
