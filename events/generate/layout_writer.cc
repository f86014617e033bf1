// Writes the layout of records as packed structures, for code that makes records by itself, such as
// a program in the kernel.
#include "events/generate/generate.h"
#include "events/generate/names.h"

namespace jprof::events {
namespace {

// Returns whether a structure can be the record: a text can only be its last field.
bool HasLayout(const NamedEvent& event) {
  for (const Field& field : event.fields) {
    if (field.type == FieldType::kString && &field != &event.fields.back()) return false;
  }
  return true;
}

void DefineLayout(const NamedEvent& event, std::string& out) {
  const std::string upper = UpperCase(event.joined);
  out += fmt::format("\n#define {}_ID 0x{:08x}u\n", upper, event.id);
  for (const Field& field : event.fields) {
    for (const NamedValue& value : field.values)
      out += fmt::format("#define {}_{}_{} {}\n", upper, UpperCase(field.name),
                         UpperCase(value.name), value.number);
  }
  out += fmt::format("struct {}_layout {{\n  uint64_t time;\n  uint32_t id;\n", event.joined);
  for (const Field& field : event.fields) {
    out += field.type == FieldType::kString
               ? fmt::format("  char {}[{}];\n", field.name, kMostTextBytes + 1)
               : fmt::format("  {} {};\n", CTypeName(field.type), field.name);
  }
  out += "} __attribute__((packed));\n";
}

}  // namespace

GeneratedFiles GenerateLayout(const Specification& specification) {
  std::string out = fmt::format(
      "/* {}\n * A record ends behind the zero byte of its text. Include the header that defines "
      "uint64_t first. */\n#pragma once\n",
      GeneratedBy(specification, "layout"));
  std::string metadata;
  for (const NamedEvent& event : NamedEvents(specification)) {
    if (!HasLayout(event)) continue;
    DefineLayout(event, out);
    metadata += "\n" + TsdlOf(event);
  }
  const auto define = [&](std::string_view what, std::string_view text) {
    std::string literal = CLiteral(text, "  ");
    for (size_t at = 0; (at = literal.find('\n', at)) != std::string::npos; at += 3)
      literal.replace(at, 1, " \\\n");
    out += fmt::format("\n#define {}_{} \\\n{}\n", UpperCase(specification.name), what, literal);
  };
  define("METADATA", metadata);
  define("SPECIFICATION", specification.text);
  return {{specification.name + "_layout.h", out}};
}

}  // namespace jprof::events
