// Limits the memory that a tool uses to read a profile, whose files may be larger than the memory
// of this machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/result.h"

namespace jprof::profile {

// Returns half of the available memory; the other half is for processing the data.
uint64_t ReadingMemory();

// Returns an error that names the file and states what to do.
std::unexpected<Error> NotEnoughMemory(std::string_view file, uint64_t memory);

}  // namespace jprof::profile
