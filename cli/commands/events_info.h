// Prints what `jprof info` reports of events of the kernel.
#pragma once

#include <string>

#include "common/result.h"

namespace jprof::cli {

// Describes a recording of jprof timeline or jprof system-trace, as text or with `json` as JSON.
// Fails if its events cannot be read.
Result<void> DescribeEvents(const std::string& directory, bool json);

}  // namespace jprof::cli
