#include "profile/files/printable_text.h"
#include "reports/print/units.h"
#include "reports/quality/quality_of.h"

namespace jprof::reports {
namespace {

// Adds how long it is not known what the processors ran.
void AddGaps(const model::Stretches& stretches, std::vector<Fact>& facts) {
  if (stretches.gaps.empty()) return;
  double gaps = 0;
  for (const model::Stretch& gap : stretches.gaps) gaps += static_cast<double>(gap.duration());
  const double all =
      static_cast<double>(stretches.duration) * static_cast<double>(stretches.processors);
  constexpr double kMuch = 0.01;
  facts.push_back({.name = "unseen_dispatches",
                   .value = static_cast<double>(stretches.gaps.size()),
                   .severity = gaps < kMuch * all ? Severity::kMinor : Severity::kMajor,
                   .text = fmt::format("it is not known what the processors ran for {} ({:.2f} %)",
                                       Duration(gaps), 100 * gaps / all),
                   .means = "The kernel did not report the dispatches of some threads, as some "
                            "virtual machines hide those of their own init process, or their "
                            "events were lost. Utilisation counts this time as UNSEEN."});
}

void AddDamages(const std::vector<std::string>& damages, std::string_view means,
                std::vector<Fact>& facts) {
  for (const std::string& damage : damages) {
    facts.push_back({.name = "damage",
                     .value = 1,
                     .severity = Severity::kMajor,
                     .text = profile::CleanText(damage),
                     .means = means});
  }
}

std::vector<Fact> FactsOfEvents(const model::RecordedEvents& events) {
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
  AddGaps(stretches, facts);
  AddDamages(stretches.damages, "What this file would say is missing.", facts);
  for (const std::string& note : events.meta.notes) {
    facts.push_back({.name = "note", .value = 1, .severity = Severity::kMinor, .text = note});
  }
  return facts;
}

}  // namespace

Quality QualityOf(const model::RecordedEvents& events) {
  Quality quality;
  std::vector<Fact> facts = FactsOfEvents(events);
  AddDamages(events.profile_damages, "Calling contexts may have no names.", facts);
  quality.Add(std::move(facts));
  return quality;
}

void AddEvents(const Result<model::RecordedEvents>& events, Quality& quality) {
  quality.Add(events ? FactsOfEvents(*events)
                     : std::vector<Fact>{{.name = "damage",
                                          .value = 1,
                                          .severity = Severity::kSevere,
                                          .text = profile::CleanText(events.error().message),
                                          .means = "There is no timeline."}});
}

}  // namespace jprof::reports
