// Formats durations for people.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

namespace jprof::reports {

// Returns the duration in the unit that fits, with three significant digits: "4.30 ns", "364 ms",
// "1.52 s". 0 is "0 ns"; from 1000 s on, it is whole seconds.
inline std::string Duration(double ns) {
  if (!(std::abs(ns) > 0) || !std::isfinite(ns)) return "0 ns";
  if (ns < 0) return "-" + Duration(-ns);
  constexpr std::array<const char*, 4> kUnits = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  for (; ns >= 999.5 && unit + 1 < kUnits.size(); ++unit) ns /= 1000;
  const int digits = ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", ns, digits, kUnits[unit]);
}

}  // namespace jprof::reports
