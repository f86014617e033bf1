// Divides texts into lines for the head of a report.
#pragma once

#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::reports {

inline constexpr size_t kTextColumns = 99;  // of a line, without its label

// Divides a text at blanks into lines. A longer word has a line of its own.
inline std::vector<std::string> Wrapped(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const auto part : std::views::split(text, ' ')) {
    const std::string_view word(part);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > kTextColumns)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + std::string(word);
  }
  return lines;
}

}  // namespace jprof::reports
