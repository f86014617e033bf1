#include "reports/print/legend.h"

#include <algorithm>
#include <ranges>

namespace jprof::reports {

std::string Legend(std::string_view text) {
  constexpr std::string_view kBegin = " legend    ";
  constexpr size_t kColumns = 110;
  std::string lines;
  size_t column = 0;  // 0: no word is on the line
  for (const auto line : std::views::split(text, '\n')) {
    for (const auto part : std::views::split(line, ' ')) {
      const std::string_view word(part);
      if (column > 0 && column + 1 + word.size() > kColumns) {
        lines += '\n';
        column = 0;
      }
      if (column == 0) {
        lines += lines.empty() ? std::string(kBegin) : std::string(kBegin.size(), ' ');
        column = kBegin.size();
      } else {
        lines += ' ';
        ++column;
      }
      lines += word;
      column += word.size();
    }
    lines += '\n';
    column = 0;
  }
  return lines;
}

std::string KindsText(std::initializer_list<FrameKind> kinds) {
  std::string text;
  for (const FrameKind kind : kinds) {
    const auto& row = *std::ranges::find(kFrameKinds, kind, &FrameKindRow::kind);
    if (!text.empty()) text += ", ";
    text += kind == FrameKind::kClass ? "--" : std::string(1, row.letter);
    text += ' ';
    text += row.meaning;
  }
  return text;
}

}  // namespace jprof::reports
