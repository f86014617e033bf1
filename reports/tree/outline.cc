#include "reports/tree/outline.h"

#include <fmt/format.h>

#include "reports/print/units.h"

namespace jprof::reports {
namespace {

constexpr std::string_view kAdvice = "--all shows all, --legend explains the columns";

}  // namespace

std::string Before(Place place) {
  constexpr uint32_t kMostIndent = 100;
  std::string before(std::min(place.indent, kMostIndent), ' ');
  if (place.callers > 0) before += fmt::format("+{} ", place.callers);
  return before;
}

std::string RestName(size_t hidden, bool threads) {
  return threads ? fmt::format("({})", Counted(hidden, "more thread", "more threads"))
                 : fmt::format("({})", Counted(hidden, "more row", "more rows"));
}

std::string HiddenText(double percent) {
  if (percent <= 0) return "";
  return fmt::format("rows below {:g} % of the whole are not shown: {}\n", percent, kAdvice);
}

std::string MoreText(size_t count, std::string_view what) {
  if (count == 0) return "";
  return fmt::format("{} more {}{}: {}\n", count, what, count == 1 ? "" : "s", kAdvice);
}

}  // namespace jprof::reports
