// The error of a command whose process cannot be read.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/result.h"

namespace jprof::record {

// Returns that there is no such process (wrong use), with the hint where one is found. If it exists
// nevertheless, returns that it cannot be read, for the reason of `error`, the errno of the
// attempt.
std::unexpected<Error> NoProcess(uint32_t pid, int error, std::string_view hint = "");

}  // namespace jprof::record
