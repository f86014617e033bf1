#include "reports/formats.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace jprof::reports {

Result<void> CheckOffered(std::string_view report, std::span<const Format> offered, Format format) {
  if (std::ranges::find(offered, format) != offered.end()) return {};
  std::vector<std::string_view> names;
  for (const Format one : offered) names.push_back(EntryOf(one).name);
  return WrongUse("{} is not printed as {}; choose one of: {}", report, EntryOf(format).name,
                  fmt::join(names, ", "));
}

}  // namespace jprof::reports
