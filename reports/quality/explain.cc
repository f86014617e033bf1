#include "reports/quality/explain.h"

#include <fmt/format.h>

#include "common/wrapped_text.h"
#include "profile/files/printable_text.h"

namespace jprof::reports {
namespace {

void Line(std::string_view label, std::string_view text, Output& out) {
  if (text.empty()) return;
  bool is_first = true;
  for (const std::string& line : WrappedLines(text, kHeadColumns)) {
    out.Print("         {:<9} {}\n", is_first ? label : "", line);
    is_first = false;
  }
}

void ExplainFact(const Fact& fact, Output& out) {
  const std::string title = fmt::format("\n {:<7} {}\n", NameOf(fact.severity), fact.text);
  fact.severity >= Severity::kMajor ? out.Warning(title) : out.Text(title);
  Line("details", fact.detail, out);
  Line("means", fact.means, out);
  Line("to do", fact.advice, out);
}

void WriteFact(const Fact& fact, JsonWriter& json) {
  json.StartRow();
  JsonFact(fact, json);
  json.Member("detail", fact.detail);
  json.Member("means", fact.means);
  json.Member("advice", fact.advice);
  json.EndObject();
}

}  // namespace

void ExplainText(std::string_view directory, const Quality& quality, Output& out) {
  out.Bold(
      fmt::format("quality of {}: {}\n", profile::CleanText(directory), GradeOf(quality.worst())));
  for (const Fact& fact : quality.facts) ExplainFact(fact, out);
  if (quality.facts.empty()) out.Text(" nothing is missing or in doubt\n");
}

void ExplainJson(std::string_view directory, const Quality& quality, Output& out) {
  JsonWriter json(out);
  json.StartObject();
  json.Member("profile", directory);
  json.Member("grade", GradeOf(quality.worst()));
  json.Key("quality");
  json.StartArray();
  for (const Fact& fact : quality.facts) WriteFact(fact, json);
  json.EndArray();
  json.EndObject();
  json.Finish();
}

}  // namespace jprof::reports
