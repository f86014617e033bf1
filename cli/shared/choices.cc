#include "cli/shared/choices.h"

#include <fmt/ranges.h>

#include "common/nearest.h"

namespace jprof::cli {

Result<size_t> Choose(const char* what, std::string_view name,
                      const std::vector<std::string_view>& choices) {
  for (size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == name) return i;
  }
  const auto nearest = Nearest(name, choices);
  return WrongUse("{} '{}' is unknown; {} one of: {}", what, name,
                  nearest ? fmt::format("did you mean '{}'? Choose", *nearest) : "choose",
                  fmt::join(choices, ", "));
}

Result<reports::Format> ChooseFormat(std::string_view name,
                                     std::span<const reports::Format> offered) {
  std::vector<std::string_view> names;
  for (const reports::Format format : offered) names.push_back(reports::EntryOf(format).name);
  const Result<size_t> chosen = Choose("--format", name, names);
  if (!chosen) return std::unexpected(chosen.error());
  return offered[*chosen];
}

}  // namespace jprof::cli
