// Rounds values to whole units. The rounding error of a value is carried to the next one, so that
// the sum of the rounded values is the rounded sum.
#pragma once

#include <cmath>
#include <cstdint>

#include "model/values/amount.h"

namespace jprof::model {

class WholeUnits {
 public:
  // Returns the rounded value, 0 for NaN, or the limit of the type for values beyond it.
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

}  // namespace jprof::model
