#include "cli/commands/doctor_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/wrapped_text.h"
#include "profile/files/printable_text.h"

namespace jprof::cli {
namespace {

constexpr size_t kVerdictWidth = 6;

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
                        width, WrappedText(detail, kVerdictWidth + width + 2));
  }
  return text;
}

}  // namespace jprof::cli
