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

Result<reports::Format> ChooseFormat(std::string_view word, bool stacks) {
  std::vector<std::string_view> choices = {"text", "json", "csv"};
  if (stacks) choices.push_back("collapsed");
  const Result<size_t> format = Choose("--format", word, choices);
  if (!format) return std::unexpected(format.error());
  return static_cast<reports::Format>(*format);
}

}  // namespace jprof::cli
