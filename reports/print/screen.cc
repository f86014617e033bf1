#include "reports/print/screen.h"

#include <fmt/format.h>

namespace jprof::reports {
namespace {

constexpr std::string_view kAdvice = "--all shows all, --legend explains the columns";

}  // namespace

std::string HiddenText(double percent) {
  if (percent <= 0) return "";
  return fmt::format("rows below {:g} % of the whole are not shown: {}\n", percent, kAdvice);
}

std::string MoreText(size_t count, std::string_view what) {
  if (count == 0) return "";
  return fmt::format("{} more {}{}: {}\n", count, what, count == 1 ? "" : "s", kAdvice);
}

}  // namespace jprof::reports
