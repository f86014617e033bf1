#include "reports/quality/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/shell_word.h"
#include "common/terminal_cells.h"
#include "common/wrapped_text.h"
#include "model/tree/run_description.h"
#include "profile/files/printable_text.h"
#include "reports/print/fit.h"

namespace jprof::reports {
namespace {

using profile::CleanText;

constexpr size_t kLabel = 11;  // cells of a label with the blanks beside it

size_t ColumnsOf(size_t width) { return HeadColumns(width) - std::min(HeadColumns(width), kLabel); }
size_t MostLines(size_t width) { return HeadColumns(width) < kHeadColumns ? 9 : 8; }

std::string Labelled(std::string_view label, std::string_view text) {
  return fmt::format(" {:<9} {}\n", label, text);
}

std::vector<std::string> QualityLines(const Head& head, const Quality& quality, size_t facts) {
  const std::string of = head.directory.empty() ? "PROFILE" : ShellWord(CleanText(head.directory));
  const std::string command = fmt::format("(jprof info --quality {})", of);
  const size_t columns = ColumnsOf(head.width);
  std::vector<std::string> lines = WrappedLines(QualityText(quality, facts), columns);
  const bool fits = head.width == 0 || Cells(lines.back()) + 1 + Cells(command) <= columns;
  if (quality.worst() == Severity::kInfo && fits) {
    lines.back() += " " + command;
  } else {
    lines.push_back(command);  // one piece, to be copied
  }
  return lines;
}

void PrintQualityLines(const std::vector<std::string>& lines, Severity worst, Output& out) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string line = Labelled(i == 0 ? "quality" : "", lines[i]);
    worst >= Severity::kMajor ? out.Warning(line) : out.Text(line);
  }
}

// Returns the row as one line or, if that is wider than `width`, as two, the second one cut.
std::vector<std::string> LinesOf(const HeadRow& row, size_t width) {
  const std::string label = CleanText(row.label), text = CleanText(row.text);
  const size_t columns = ColumnsOf(width);
  if (width == 0 || Cells(text) <= width - std::min(width, kLabel)) return {Labelled(label, text)};
  const std::string first = WrappedLines(text, columns).front();
  std::vector<std::string> lines = {Labelled(label, Cut(first, columns))};
  if (first.size() < text.size())
    lines.push_back(Labelled("", Cut(std::string_view(text).substr(first.size() + 1), columns)));
  return lines;
}

std::vector<std::string> LinesOf(const std::vector<HeadRow>& rows, size_t width) {
  std::vector<std::string> lines;
  for (const HeadRow& row : rows) {
    if (row.text.empty()) continue;
    for (std::string& line : LinesOf(row, width)) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

void PrintHead(const Head& head, const Quality& quality, Output& out) {
  const std::vector<std::string> lines = LinesOf(head.lines, head.width);
  const size_t most = MostLines(head.width);
  size_t facts = kHeadFacts;
  std::vector<std::string> last = QualityLines(head, quality, facts);
  while (head.width > 0 && facts > 1 && 1 + lines.size() + last.size() > most)
    last = QualityLines(head, quality, --facts);
  const std::string title = fmt::format("jprof {} of {}", head.report, CleanText(head.of));
  out.Bold((head.width > 0 ? Cut(title, head.width) : title) + "\n");
  const size_t room = most - std::min(most, 1 + last.size());
  for (size_t i = 0; i < std::min(room, lines.size()); ++i) out.Text(lines[i]);
  PrintQualityLines(last, quality.worst(), out);
}

void PrintHeadRow(const HeadRow& row, size_t width, Output& out) {
  for (const std::string& line : LinesOf(row, width)) out.Text(line);
}

void PrintQuality(const Head& head, const Quality& quality, Output& out) {
  PrintQualityLines(QualityLines(head, quality, kHeadFacts), quality.worst(), out);
}

std::string Joined(std::initializer_list<std::string> texts, std::string_view separator) {
  std::string joined;
  for (const std::string& text : texts) {
    if (!joined.empty() && !text.empty()) joined += separator;
    joined += text;
  }
  return joined;
}

std::string HeadCommand(const std::vector<std::string>& command) {
  constexpr size_t kShown = 200;
  return Cut(model::CommandText(command), kShown);
}

}  // namespace jprof::reports
