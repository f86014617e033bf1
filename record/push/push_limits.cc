// The limits of servers on labels and stacks, which a profile is not divided for.
#include <fmt/format.h>

#include "profile/files/printable_text.h"
#include "record/push/push.h"

namespace jprof::record {
namespace {

// Pyroscope's defaults (pkg/validation of grafana/pyroscope).
constexpr size_t kMostLabels = 30, kLongestLabelName = 1024, kLongestLabelValue = 2048,
                 kDeepestStack = 1000;

void WarnOfLength(std::string_view what, std::string_view text, size_t most, std::string_view limit,
                  std::vector<std::string>& warnings) {
  if (text.size() <= most) return;
  warnings.push_back(fmt::format(
      "{} has {} bytes: Pyroscope accepts {} by default ({}), and may refuse the "
      "profile: {}...",
      what, text.size(), most, limit, profile::CleanText(profile::BeginningOf(text, 40))));
}

}  // namespace

std::vector<std::string> LimitWarnings(const PushTarget& target, size_t deepest) {
  std::vector<std::string> warnings;
  if (target.server != PushServer::kPyroscope) return warnings;
  const size_t labels = target.labels.size() + 1;  // the name is one, too
  if (labels > kMostLabels) {
    warnings.push_back(
        fmt::format("{} labels with the name: Pyroscope accepts {} by default "
                    "(max-label-names-per-series), and may refuse the profile",
                    labels, kMostLabels));
  }
  WarnOfLength("the name", target.name, kLongestLabelValue, "max-length-label-value", warnings);
  for (const auto& [name, value] : target.labels) {
    WarnOfLength("the name of a label", name, kLongestLabelName, "max-length-label-name", warnings);
    WarnOfLength("the label " + profile::CleanText(profile::BeginningOf(name, 40)), value,
                 kLongestLabelValue, "max-length-label-value", warnings);
  }
  if (deepest > kDeepestStack) {
    warnings.push_back(
        fmt::format("the deepest stack has {} frames: Pyroscope cuts stacks to {} by default "
                    "(max-profile-stacktrace-depth)",
                    deepest, kDeepestStack));
  }
  return warnings;
}

}  // namespace jprof::record
