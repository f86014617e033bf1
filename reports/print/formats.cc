#include "reports/print/formats.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace jprof::reports {

std::string FormatNames(std::span<const Format> formats) {
  std::vector<std::string_view> names;
  for (const Format format : formats) names.push_back(EntryOf(format).name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<void> CheckOffered(std::string_view report, std::span<const Format> offered, Format format) {
  if (std::ranges::find(offered, format) != offered.end()) return {};
  return WrongUse("{} is not printed as {}; choose one of: {}", report, EntryOf(format).name,
                  FormatNames(offered));
}

}  // namespace jprof::reports
