// Writes the reference of a specification: one page without scripts or other files.
#include <iterator>

#include "events/generate/generate.h"
#include "events/generate/names.h"

namespace jprof::events {
namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char byte : text) {
    switch (byte) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += byte;
    }
  }
  return escaped;
}

constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{0}: events</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #ddd; }}
code {{ font: .95em ui-monospace, monospace; }}
h3 {{ margin-top: 2rem; }}
</style>
<h1>{0}: events</h1>
)";

std::string ContextNames(const std::vector<Context>& contexts) {
  std::string names;
  for (const Context context : contexts) {
    std::string name(TraitsOf(context).name);
    if (context == Context::kCallingContext) name = "calling context";
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

// What the event means beside its fields, one sentence each.
std::string Meanings(const Event& event) {
  std::string text;
  const auto say = [&](bool holds, auto format, const auto&... arguments) {
    if (holds) text += " " + fmt::format(fmt::runtime(format), arguments...);
  };
  if (event.pair) {
    say(true, "It is the {} of <code>{}</code>.", event.pair->begins ? "begin" : "end",
        event.pair->name);
    say(!event.pair->on.empty(), "Both have the same <code>{}</code>.", event.pair->on);
  }
  say(!event.link.empty(), "Events with the same <code>{}</code> form an arrow.", event.link);
  say(!event.counter.empty(), "<code>{}</code> is a value over time.", event.counter);
  say(!event.marker.empty(), "<code>{}</code> is shown as a marker.", event.marker);
  if (event.state)
    say(true, "<code>{}</code> is the state of the {} from then on.", event.state->field,
        TraitsOf(event.state->of).name);
  say(!event.statistics.empty(), "Statistics are those of <code>{}</code>.", event.statistics);
  say(!event.restored.empty(), "Readers restore from dispatches: {}.",
      ContextNames(event.restored));
  return text;
}

void Fields(const NamedEvent& event, std::string& out) {
  if (event.fields.empty()) return;
  out += "<table>\n<tr><th>field<th>type<th>unit<th>meaning\n";
  for (const Field& field : event.fields) {
    std::string meaning = Escaped(field.meaning);
    for (const NamedValue& value : field.values)
      meaning += fmt::format("<br>{}: <code>{}</code>", value.number, value.name);
    out += fmt::format("<tr><td><code>{}</code><td>{}<td>{}<td>{}\n", field.name,
                       TraitsOf(field.type).name, Escaped(field.unit), meaning);
  }
  out += "</table>\n";
}

void Describe(const NamedEvent& event, std::string& out) {
  out += fmt::format("<h3 id=\"{0}\"><code>{0}</code></h3>\n<p>{1}{2}</p>\n", event.full_name,
                     Escaped(event.event.documentation), Meanings(event.event));
  Fields(event, out);
  out +=
      fmt::format("<p>Version {}, id {:#010x}, level at the begin: {}.</p>\n", event.event.version,
                  event.id, kLevels[static_cast<size_t>(event.event.level)]);
}

}  // namespace

GeneratedFiles GenerateHtml(const Specification& specification) {
  std::string out = fmt::format(kHead, specification.name);
  out += fmt::format("<p>{}</p>\n", Escaped(specification.documentation));
  const auto events = NamedEvents(specification);
  auto event = events.begin();
  for (const EventClass& of : specification.classes) {
    out += fmt::format("<h2><code>{}::{}</code></h2>\n<p>{}</p>\n", specification.layer, of.name,
                       Escaped(of.documentation));
    for (size_t i = 0; i < of.events.size(); ++i) Describe(*event++, out);
  }
  return {{specification.name + "_events.html", out + "</html>\n"}};
}

}  // namespace jprof::events
