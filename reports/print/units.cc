#include "reports/print/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace jprof::reports {

std::string Duration(double ns) {
  constexpr std::array kUnits = {"ns", "us", "ms", "s"};
  if (!(std::abs(ns) > 0)) return "0 ns";
  size_t unit = 0;
  for (; unit + 1 < kUnits.size() && std::abs(ns) >= 999.5; ++unit) ns /= 1000;
  const int digits = std::abs(ns) < 9.995 ? 2 : std::abs(ns) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", ns, digits, kUnits[unit]);
}

std::string Counted(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace jprof::reports
