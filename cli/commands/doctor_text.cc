#include "cli/commands/doctor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "profile/files/printable_text.h"

namespace jprof::cli {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kVerdictWidth = 6;

// Breaks text at blanks. A word that is longer than a line has a line of its own.
std::string Wrapped(const std::string& text, size_t indent) {
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
  out.pop_back();
  return out;
}

}  // namespace

std::string_view VerdictName(record::DoctorCheck::Verdict verdict) {
  switch (verdict) {
    case record::DoctorCheck::Verdict::kOk:
      return "ok";
    case record::DoctorCheck::Verdict::kNote:
      return "note";
    case record::DoctorCheck::Verdict::kNo:
      break;
  }
  return "no";
}

std::string DoctorText(const record::DoctorChecks& checks) {
  size_t width = 0;
  for (const record::DoctorCheck& check : checks) width = std::max(width, check.name.size());
  std::string text;
  for (const record::DoctorCheck& check : checks) {
    std::string detail = profile::CleanText(check.detail);
    if (!check.remedy.empty()) detail += " -> " + profile::CleanText(check.remedy);
    text += fmt::format("{:<{}}{:<{}}  {}\n", VerdictName(check.verdict), kVerdictWidth, check.name,
                        width, Wrapped(detail, kVerdictWidth + width + 2));
  }
  return text;
}

}  // namespace jprof::cli
