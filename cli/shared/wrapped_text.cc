#include "cli/shared/wrapped_text.h"

#include <ranges>

namespace jprof::cli {

std::string Wrapped(std::string_view text, size_t indent) {
  std::string out;
  size_t column = indent;
  for (const auto part : std::views::split(text, ' ')) {
    const std::string_view word(part);
    if (column + word.size() > kColumns && column > indent) {
      out.pop_back();
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    out += std::string(word) + " ";
    column += word.size() + 1;
  }
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace jprof::cli
