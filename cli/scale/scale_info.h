// Prints what `jprof info` reports of a result of `jprof scale`.
#pragma once

#include <string>

#include "common/result.h"

namespace jprof::cli {

// Prints the command and the profile of each size, as text or as JSON. Fails if scale.json cannot
// be read or is damaged.
Result<void> DescribeScale(const std::string& directory, bool json);

}  // namespace jprof::cli
