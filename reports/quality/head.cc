#include "reports/quality/head.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/shell_word.h"
#include "common/wrapped_text.h"
#include "model/tree/run_description.h"
#include "profile/files/printable_text.h"
#include "reports/print/fit.h"

namespace jprof::reports {
namespace {

using profile::CleanText;

constexpr size_t kMostLines = 8;

std::vector<std::string> QualityLines(const Head& head, const Quality& quality) {
  const std::string of = head.directory.empty() ? "PROFILE" : ShellWord(CleanText(head.directory));
  const std::string command = fmt::format("(jprof info --quality {})", of);
  std::vector<std::string> lines = WrappedLines(QualityText(quality), kHeadColumns);
  if (quality.worst() == Severity::kInfo) {
    lines.back() += " " + command;
  } else {
    lines.push_back(command);  // one piece, to be copied
  }
  return lines;
}

void PrintLines(const std::vector<std::string>& lines, Severity worst, Output& out) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string line = fmt::format(" {:<9} {}\n", i == 0 ? "quality" : "", lines[i]);
    worst >= Severity::kMajor ? out.Warning(line) : out.Text(line);
  }
}

}  // namespace

void PrintHead(const Head& head, const Quality& quality, Output& out) {
  const std::vector<std::string> last = QualityLines(head, quality);
  const size_t room = kMostLines - std::min(kMostLines, 1 + last.size());
  out.Bold(fmt::format("jprof {} of {}\n", head.report, CleanText(head.of)));
  size_t printed = 0;
  for (const HeadRow& line : head.lines) {
    if (line.text.empty() || printed++ >= room) continue;
    out.Print(" {:<9} {}\n", CleanText(line.label), CleanText(line.text));
  }
  PrintLines(last, quality.worst(), out);
}

void PrintQuality(const Head& head, const Quality& quality, Output& out) {
  PrintLines(QualityLines(head, quality), quality.worst(), out);
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
