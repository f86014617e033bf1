#include "model/values/amount.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace jprof::model {

int64_t Rounded(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9.2e18) return INT64_MAX;
  if (value <= -9.2e18) return INT64_MIN;
  return std::llround(value);
}

std::string AmountIn(const std::string& unit, double value) {
  if (unit == "ns" && std::abs(value) >= 1e9) return fmt::format("{:.3f} s", value / 1e9);
  if (unit == "ns" && std::abs(value) >= 1e6) return fmt::format("{:.3f} ms", value / 1e6);
  return fmt::format("{} {}", Rounded(value), unit);
}

}  // namespace jprof::model
