// Sums in whole units: the rounding error of a value is carried to the next one, so that the sum of
// the rounded values is the rounded sum.
#pragma once

#include <cmath>
#include <cstdint>

#include "reports/output.h"

namespace jprof::reports {

class WholeUnits {
 public:
  // 0 for NaN; the limits of the type for values beyond them.
  int64_t Of(double value) {
    if (!std::isfinite(value) || std::abs(value) >= 9e18) return Rounded(value);
    const double exact = value + carry_;
    const double whole = std::floor(exact + 0.5);
    carry_ = exact - whole;
    return Rounded(whole);
  }

 private:
  double carry_ = 0;
};

}  // namespace jprof::reports
