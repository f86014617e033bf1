// The amount of memory that a tool may use to read a profile, whose files may be larger than the
// memory of this machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/result.h"

namespace jprof::profile {

// Half of what is available: the other half is for processing the data.
uint64_t ReadingMemory();

// An error that names the file and states what to do.
std::unexpected<Error> NotEnoughMemory(std::string_view file, uint64_t memory);

}  // namespace jprof::profile
