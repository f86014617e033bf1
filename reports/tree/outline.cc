#include "reports/tree/outline.h"

#include <fmt/format.h>

#include "reports/print/units.h"

namespace jprof::reports {
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

}  // namespace jprof::reports
