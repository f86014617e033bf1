// Writes the metadata of Common Trace Format 1.8, whose language is TSDL. Names of fields have an
// underscore before them, which readers remove, so that none is a word of the language.
#include <fmt/printf.h>

#include <iterator>

#include "events/generate/generate.h"
#include "events/generate/names.h"
#include "events/runtime/ctf.h"

namespace jprof::events {
namespace {

std::string TypeName(const Field& field) {
  if (field.type == FieldType::kString) return "string";
  if (field.values.empty()) return fmt::format("{}_t", TraitsOf(field.type).name);
  std::string values;
  for (const NamedValue& value : field.values)
    values += fmt::format("{}\"{}\" = {}", values.empty() ? "" : ", ", value.name, value.number);
  return fmt::format("enum : {}_t {{ {} }}", TraitsOf(field.type).name, values);
}

std::string Struct(auto begin, auto end) {
  std::string text = "struct {\n";
  for (auto field = begin; field != end; ++field)
    text += fmt::format("    {} _{};\n", TypeName(*field), field->name);
  return text + "  };\n";
}

}  // namespace

std::string TsdlOf(const NamedEvent& event) {
  const auto contexts = event.fields.begin() + static_cast<ptrdiff_t>(event.event.written.size());
  std::string text = fmt::format("event {{\n  id = {};\n  name = \"{}\";\n  stream_id = 0;\n",
                                 event.id, event.full_name);
  if (contexts != event.fields.begin())
    text += "  context := " + Struct(event.fields.begin(), contexts);
  if (contexts != event.fields.end()) text += "  fields := " + Struct(contexts, event.fields.end());
  return text + "};\n";
}

GeneratedFiles GenerateTsdl(const Specification& specification) {
  std::string text = JPROF_EVENTS_TYPES;
  text += fmt::sprintf(JPROF_EVENTS_TRACE, "00000000-0000-0000-0000-000000000000");
  text += fmt::sprintf(JPROF_EVENTS_CLOCK, 1000000000ULL, 0LL, 0ULL);
  text += JPROF_EVENTS_STREAMS;
  for (const NamedEvent& event : NamedEvents(specification)) text += "\n" + TsdlOf(event);
  return {{"metadata", text}};
}

}  // namespace jprof::events
