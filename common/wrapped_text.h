// Divides texts into lines.
#pragma once

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "common/terminal_cells.h"

namespace jprof {

// Divides a text at blanks into lines of at most `columns` cells of a terminal. A longer word has a
// line of its own. Returns at least one line.
inline std::vector<std::string> WrappedLines(std::string_view text, size_t columns) {
  std::vector<std::string> lines(1);
  bool is_first = true;  // of its line
  for (const auto part : std::views::split(text, ' ')) {
    const std::string_view word(part);
    if (!is_first && Cells(lines.back()) + 1 + Cells(word) > columns) {
      lines.emplace_back();
      is_first = true;
    }
    if (!is_first) lines.back() += ' ';
    lines.back() += word;
    is_first = false;
  }
  return lines;
}

// Lines of help, legends and advice have at most so many cells, whatever the terminal's width.
inline constexpr size_t kTextColumns = 100;

// Returns the text in lines of at most `columns`, but with room for a few words. The first line
// begins in column `indent`; the others are indented to it.
inline std::string WrappedText(std::string_view text, size_t indent,
                               size_t columns = kTextColumns) {
  constexpr size_t kLeast = 20;
  const std::vector<std::string> lines =
      WrappedLines(text, std::max(columns, indent + kLeast) - indent);
  std::string wrapped = lines.front();
  for (size_t i = 1; i < lines.size(); ++i) wrapped += "\n" + std::string(indent, ' ') + lines[i];
  return wrapped;
}

}  // namespace jprof
