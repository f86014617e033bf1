#include "reports/print/legend.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/frame_kind.h"
#include "common/wrapped_text.h"

namespace jprof::reports {
namespace {

// Appends the entry, whose further lines begin where `text` begins.
void AddEntry(std::string& legend, std::string_view name, size_t width, std::string text) {
  std::erase(text, '`');
  const std::string begin = fmt::format("  {:<{}} ", name, width);
  legend += begin + WrappedText(text, begin.size()) + '\n';
}

// Returns whether the column is the described one, or that of a further metric (SELF-1).
bool Describes(const ColumnHelp& help, std::string_view column) {
  if (!column.starts_with(help.name)) return false;
  const std::string_view rest = column.substr(help.name.size());
  return rest.empty() ||
         (rest.front() == '-' && rest.find_first_not_of("0123456789", 1) == rest.npos);
}

std::string Letters() {
  std::string text;
  for (const FrameKindRow& row : kFrameKinds) {
    const std::string letter(row.kind == FrameKind::kClass ? 2 : 1, row.letter);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", letter, row.meaning);
  }
  return text;
}

}  // namespace

std::string Legend(std::span<const Column> columns, std::span<const ColumnHelp> help) {
  std::vector<const ColumnHelp*> shown;
  for (const Column& column : columns) {
    const auto entry = std::ranges::find_if(
        help, [&](const ColumnHelp& one) { return Describes(one, column.name); });
    if (entry != help.end() && std::ranges::find(shown, &*entry) == shown.end())
      shown.push_back(&*entry);
  }
  constexpr std::string_view kLetters = "letters";
  size_t width = kLetters.size();
  for (const ColumnHelp* entry : shown) width = std::max(width, entry->name.size());
  std::string legend;
  for (const ColumnHelp* entry : shown)
    AddEntry(legend, entry->name, width, std::string(entry->meaning));
  AddEntry(legend, kLetters, width, Letters());
  return legend;
}

}  // namespace jprof::reports
