#include "reports/quality/sample_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "model/values/statistics.h"

namespace jprof::reports {
namespace {

// Returns "libx.so 12.3 %, liby.so 4.5 %", the largest first.
std::string SharesText(const std::map<std::string, double>& parts, double whole) {
  std::vector<std::pair<std::string, double>> sorted(parts.begin(), parts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, double>::second);
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(sorted.size(), kShown); ++i) {
    text += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", sorted[i].first,
                        model::PercentOf(sorted[i].second, whole));
  }
  return text + (sorted.size() > kShown ? fmt::format(" and {} more", sorted.size() - kShown) : "");
}

}  // namespace

Finding SamplesFinding(double samples, const std::string& text) {
  constexpr double kFew = 100, kHardlyAny = 10;
  if (samples >= kFew) return {samples, Severity::kInfo, text};
  return {samples, samples < kHardlyAny ? Severity::kSevere : Severity::kMajor, "only " + text};
}

Findings WithoutJavaFinding(double share) {
  if (!(share > 0)) return {};
  return {{share, Graded(share, {.minor = 0.1, .major = 0.5}),
           fmt::format("{:.1f} % of samples without a Java frame", 100 * share)}};
}

Findings NoSymbolsFinding(const std::map<std::string, double>& modules, double whole) {
  if (modules.empty() || !(whole > 0)) return {};
  double sum = 0;
  for (const auto& [module, part] : modules) sum += part;
  const auto worst =
      std::ranges::max_element(modules, {}, &std::pair<const std::string, double>::second);
  const std::string name = worst->first.substr(worst->first.rfind('/') + 1);
  return {{sum / whole, Graded(sum / whole, {.minor = 0.01, .major = 0.2}),
           fmt::format("{:.1f} % of samples in {}: {}", 100 * sum / whole,
                       Counted(modules.size(), "module without symbols", "modules without symbols"),
                       name + (modules.size() > 1 ? ", ..." : "")),
           SharesText(modules, whole)}};
}

}  // namespace jprof::reports
