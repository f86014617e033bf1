#include "reports/quality/quality.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/files/printable_text.h"

namespace jprof::reports {
namespace {

struct SeverityRow {
  std::string_view name, grade;
};
constexpr SeverityRow kSeverities[] = {
    {"info", "good"}, {"minor", "good"}, {"major", "fair"}, {"severe", "poor"}};

const SeverityRow& RowOf(Severity severity) { return kSeverities[static_cast<size_t>(severity)]; }

// Shortens a text for the line of a head to its two ends, as a path may be in the middle. Requires
// printable UTF-8, and cuts no character apart.
std::string ShortFact(const std::string& text) {
  constexpr size_t kLongest = 80, kBegin = 47, kEnd = 30;
  if (text.size() <= kLongest) return text;
  return fmt::format("{}...{}", profile::BeginningOf(text, kBegin), profile::EndOf(text, kEnd));
}

}  // namespace

void Quality::Add(std::vector<Fact> more) {
  for (Fact& fact : more) {
    fact.text = profile::CleanText(fact.text);
    fact.detail = profile::CleanText(fact.detail);
    fact.advice = profile::CleanText(fact.advice);
    facts.push_back(std::move(fact));
  }
  std::ranges::stable_sort(facts, std::greater(), &Fact::severity);
}

void Quality::AddOf(std::string_view label, const Quality& one) {
  std::vector<Fact> labelled = one.facts;
  for (Fact& fact : labelled) fact.text = fmt::format("{}: {}", label, fact.text);
  Add(std::move(labelled));
}

std::string_view GradeOf(Severity worst) { return RowOf(worst).grade; }

std::string_view NameOf(Severity severity) { return RowOf(severity).name; }

std::string QualityText(const Quality& quality, size_t most) {
  std::string text(GradeOf(quality.worst()));
  if (quality.worst() == Severity::kInfo) return text;
  text += quality.worst() == Severity::kMinor ? ", but: " : ": ";
  const auto is_told = [](const Fact& fact) { return fact.severity != Severity::kInfo; };
  const auto told = static_cast<size_t>(std::ranges::count_if(quality.facts, is_told));
  for (size_t i = 0; i < std::min(told, most); ++i)
    text += (i > 0 ? "; " : "") + ShortFact(quality.facts[i].text);
  if (told > most) text += fmt::format("; and {} more", told - most);
  return text;
}

void JsonFact(const Fact& fact, JsonWriter& json) {
  json.Member("name", fact.name);
  json.Member("severity", NameOf(fact.severity));
  json.Key("value");
  json.Shortest(fact.value);
  json.Member("text", fact.text);
}

void JsonQuality(const Quality& quality, JsonWriter& json) {
  json.Key("quality");
  json.StartArray();
  for (const Fact& fact : quality.facts) {
    json.StartObject();
    JsonFact(fact, json);
    json.EndObject();
  }
  json.EndArray();
}

Severity Graded(double value, const Limits& limits) {
  if (value >= limits.severe) return Severity::kSevere;
  if (value >= limits.major) return Severity::kMajor;
  return value >= limits.minor ? Severity::kMinor : Severity::kInfo;
}

}  // namespace jprof::reports
