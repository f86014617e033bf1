#include <fmt/format.h>

#include "reports/quality/fact_row.h"
#include "reports/quality/profile_facts.h"
#include "reports/quality/quality_of.h"

namespace jprof::reports {
namespace {

using enum Severity;

Findings Notes(const model::Scale& of) {
  Findings found;
  for (const std::string& note : of.meta.notes) found.push_back({1, kMinor, note});
  return found;
}

Findings Sizes(const model::Scale& of) {
  const auto count = of.meta.sizes.size();
  const Severity severity = count < 3 ? kMajor : count < 4 ? kMinor : kInfo;
  const std::string text = Counted(count, "size", "sizes");
  if (severity == kInfo) return {{static_cast<double>(count), severity, text}};
  return {{static_cast<double>(count), severity,
           text + (count < 3 ? ": the laws are not checked"
                             : ": a constant part of the calls lowers an exponent")}};
}

constexpr FactRow<model::Scale> kScaleFacts[] = {
    {"note", Notes, "It was noted when the program ran."},
    {"sizes", Sizes,
     "Two sizes determine an exponent, three check it, and four separate a part of the calls that "
     "does not grow.",
     "jprof scale --sizes with four sizes or more"},
};

}  // namespace

Quality QualityOf(const model::Scale& scale) {
  Quality quality;
  AddFacts<model::Scale>(kScaleFacts, scale, scale.directory, quality);
  for (size_t i = 0; i < scale.runs.size(); ++i) {
    const model::Combined& runs = scale.runs[i];
    const std::string label = fmt::format("n = {}", scale.meta.sizes[i]);
    quality.AddOf(label, QualityOfRun(runs.counted));
    for (const model::Source& sampled : runs.sampled) quality.AddOf(label, QualityOfRun(sampled));
  }
  return quality;
}

}  // namespace jprof::reports
