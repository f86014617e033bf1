#include "reports/print/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace jprof::reports {

namespace {

// Returns the value in the largest unit, each of which is a thousand of the one before, in which it
// is at least 1.
std::string InUnits(double value, std::span<const char* const> units) {
  size_t unit = 0;
  for (; unit + 1 < units.size() && std::abs(value) >= 999.5; ++unit) value /= 1000;
  const int digits = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, units[unit]);
}

}  // namespace

std::string Duration(double ns) {
  constexpr std::array kUnits = {"ns", "us", "ms", "s"};
  return std::abs(ns) > 0 ? InUnits(ns, kUnits) : "0 ns";
}

std::string Bytes(uint64_t bytes) {
  constexpr std::array kUnits = {"bytes", "kB", "MB", "GB", "TB"};
  return bytes < 1000 ? Counted(bytes, "byte", "bytes")
                      : InUnits(static_cast<double>(bytes), kUnits);
}

std::string Counted(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace jprof::reports
