// Prints the output of `info` for a trace of `jprof itrace`.
#pragma once

#include <string>

#include "common/result.h"

namespace jprof::cli {

// Prints the output of `jprof info`, as text or with `json` as JSON.
Result<void> DescribeTrace(const std::string& directory, bool json);

}  // namespace jprof::cli
