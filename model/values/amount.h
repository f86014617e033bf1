// Rounds amounts, and formats them in the unit that suits their size.
#pragma once

#include <cstdint>
#include <string>

namespace jprof::model {

// Returns the nearest integer, the limit of the type for values beyond it, or 0 for NaN.
int64_t Rounded(double value);

// Returns "1.234 ms", "56 bytes": a value in `unit`, times in the unit that suits their size.
std::string AmountIn(const std::string& unit, double value);

}  // namespace jprof::model
