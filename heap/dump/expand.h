// Expands files of gzip, which consist of one or more members.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace jprof::heap {

// Writes the expanded bytes to `fd`. Returns what is wrong with `compressed`, or an empty text;
// what comes before the damage is written. Fails if it cannot be written. `progress` may be empty.
Result<std::string> Expand(std::string_view compressed, int fd,
                           const std::function<void(double)>& progress);

}  // namespace jprof::heap
