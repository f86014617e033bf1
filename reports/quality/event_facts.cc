#include "profile/files/printable_text.h"
#include "reports/quality/quality_of.h"

namespace jprof::reports {

Quality QualityOf(const model::RecordedEvents& events) {
  Quality quality;
  std::vector<Fact> facts;
  const model::Stretches& stretches = events.stretches;
  if (stretches.lost != 0) {
    facts.push_back({.name = "lost_events",
                     .value = static_cast<double>(stretches.lost),
                     .severity = Severity::kMajor,
                     .text = fmt::format("{} events were lost", stretches.lost),
                     .means = "stretches and waits are missing, and others are too long",
                     .advice = "record fewer kinds of events"});
  }
  for (const std::string& damage : stretches.damages) {
    facts.push_back({.name = "damage",
                     .value = 1,
                     .severity = Severity::kMajor,
                     .text = profile::CleanText(damage),
                     .means = "the events of this file are missing"});
  }
  for (const std::string& note : events.meta.notes) {
    facts.push_back({.name = "note", .value = 1, .severity = Severity::kMinor, .text = note});
  }
  quality.Add(std::move(facts));
  return quality;
}

}  // namespace jprof::reports
