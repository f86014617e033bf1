#include "cli/choices.h"

#include <fmt/ranges.h>

#include "common/nearest.h"

namespace jprof::cli {

Result<size_t> Choose(const char* what, std::string_view word,
                      const std::vector<std::string_view>& choices) {
  for (size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == word) return i;
  }
  const auto nearest = Nearest(word, choices);
  return WrongUse("{} '{}' is unknown{}; choose one of: {}", what, word,
                  nearest ? fmt::format(": did you mean '{}'?", *nearest) : "",
                  fmt::join(choices, ", "));
}

Result<reports::Format> ChooseFormat(std::string_view word,
                                     std::span<const reports::Format> offered) {
  std::vector<std::string_view> names;
  for (const reports::Format format : offered) names.push_back(reports::EntryOf(format).name);
  const Result<size_t> chosen = Choose("--format", word, names);
  if (!chosen) return std::unexpected(chosen.error());
  return offered[*chosen];
}

}  // namespace jprof::cli
