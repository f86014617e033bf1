// How much memory a tool may take to read a profile: its files may be larger than this machine's
// memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/result.h"

namespace jprof::profile {

// Half of what is available, so that there is room to work on what was read.
uint64_t ReadingMemory();

// Error: names the file and what to do.
std::unexpected<Error> NotEnoughMemory(std::string_view file, uint64_t memory);

}  // namespace jprof::profile
