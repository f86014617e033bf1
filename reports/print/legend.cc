#include "reports/print/legend.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/frame_kind.h"
#include "common/wrapped_text.h"

namespace jprof::reports {
namespace {

// Returns the entry, whose further lines begin where `text` begins.
std::string Entry(std::string_view name, size_t name_width, std::string text, size_t columns) {
  std::erase(text, '`');
  const std::string begin = fmt::format("  {:<{}} ", name, name_width);
  return begin + WrappedText(text, begin.size(), columns) + '\n';
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

std::string Legend(std::span<const Column> columns, std::span<const ColumnHelp> help,
                   size_t width) {
  std::vector<const ColumnHelp*> shown;
  for (const Column& column : columns) {
    const auto entry = std::ranges::find_if(
        help, [&](const ColumnHelp& one) { return Describes(one, column.name); });
    if (entry != help.end() && std::ranges::find(shown, &*entry) == shown.end())
      shown.push_back(&*entry);
  }
  constexpr std::string_view kLetters = "letters";
  size_t name_width = kLetters.size();
  for (const ColumnHelp* entry : shown) name_width = std::max(name_width, entry->name.size());
  const size_t columns_of_text = width == 0 ? kTextColumns : std::min(width, kTextColumns);
  std::string legend;
  for (const ColumnHelp* entry : shown)
    legend += Entry(entry->name, name_width, std::string(entry->meaning), columns_of_text);
  legend += Entry(kLetters, name_width, Letters(), columns_of_text);
  return legend;
}

}  // namespace jprof::reports
