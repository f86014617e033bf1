#include "reports/quality/explain.h"

#include <fmt/format.h>

#include "common/wrapped_text.h"
#include "profile/files/printable_text.h"

namespace jprof::reports {
namespace {

std::string Line(std::string_view begin, std::string_view text, size_t columns) {
  return text.empty() ? "" : fmt::format("{}{}\n", begin, WrappedText(text, begin.size(), columns));
}

void ExplainFact(const Fact& fact, size_t columns, Output& out) {
  const std::string title =
      "\n" + Line(fmt::format(" {:<7} ", NameOf(fact.severity)), fact.text, columns);
  fact.severity >= Severity::kMajor ? out.Warning(title) : out.Text(title);
  out.Text(Line("         details   ", fact.detail, columns));
  out.Text(Line("         means     ", fact.means, columns));
  out.Text(Line("         to do     ", fact.advice, columns));
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

void ExplainText(std::string_view directory, const Quality& quality, size_t width, Output& out) {
  const std::string title =
      fmt::format("quality of {}: {}", profile::CleanText(directory), GradeOf(quality.worst()));
  out.Bold(title + "\n");
  for (const Fact& fact : quality.facts) ExplainFact(fact, HeadColumns(width), out);
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
