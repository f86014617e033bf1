// Reads the sizes of `jprof scale`. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::cli {

inline constexpr size_t kMostSizes = 20;

// Parses "1000,2000,4k,8k", or parts like "1k..8k", which double: 1000, 2000, 4000, 8000. k, M and
// G are powers of 1000, since sizes are numbers of things. Returns the sizes in increasing order.
// Fails with kWrongUse, and names the part, if it is no whole number from 1 on, or if a size comes
// twice; and if there are fewer than two sizes or more than kMostSizes.
Result<std::vector<uint64_t>> ParseSizes(std::string_view text);

}  // namespace jprof::cli
