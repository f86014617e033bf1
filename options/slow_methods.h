// The items of SLOW: which methods are watched, and from which time on a call is slow
// (docs/TRIGGERS.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/result.h"
#include "options/filter.h"

namespace jprof::options {

inline constexpr size_t kMostSlowMethods = 8;

// One item, "com.acme.Cart.total:10ms" as typed.
struct SlowMethods {
  Filter filter;    // one item
  uint64_t ns = 0;  // by the clock on the wall
};

// Parses an item of SLOW. The methods are written as an item of CLASSMETHODS is. Fails if there is
// no time behind the last colon, with the unit us, ms or s, or if it is not from 1us to 3600s.
Result<SlowMethods> ParseSlowMethods(std::string_view text);

}  // namespace jprof::options
