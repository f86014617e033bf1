// Makes the error of a command whose process cannot be read.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/result.h"

namespace jprof::record {

// Returns the error kWrongUse that there is no such process, with a hint where to find one. If the
// process is a zombie, the error says so. If it exists nevertheless, the error says that it cannot
// be read, for the reason `error`, the errno of the attempt.
std::unexpected<Error> NoProcess(uint32_t pid, int error, std::string_view hint = "");

}  // namespace jprof::record
