// Divides texts into lines.
#pragma once

#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace jprof {

// Divides a text at blanks into lines of at most `columns` bytes. A longer word has a line of its
// own. Returns at least one line.
inline std::vector<std::string> WrappedLines(std::string_view text, size_t columns) {
  std::vector<std::string> lines(1);
  bool is_first = true;  // of its line
  for (const auto part : std::views::split(text, ' ')) {
    const std::string_view word(part);
    if (!is_first && lines.back().size() + 1 + word.size() > columns) {
      lines.emplace_back();
      is_first = true;
    }
    if (!is_first) lines.back() += ' ';
    lines.back() += word;
    is_first = false;
  }
  return lines;
}

// Lines of help, legends and advice have at most so many bytes, whatever the terminal's width.
inline constexpr size_t kTextColumns = 100;

// Returns the text in lines of at most kTextColumns. The first line begins in column `indent`; the
// others are indented to it.
inline std::string WrappedText(std::string_view text, size_t indent) {
  const std::vector<std::string> lines = WrappedLines(text, kTextColumns - indent);
  std::string wrapped = lines.front();
  for (size_t i = 1; i < lines.size(); ++i) wrapped += "\n" + std::string(indent, ' ') + lines[i];
  return wrapped;
}

}  // namespace jprof
