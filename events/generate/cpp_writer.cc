// Writes stubs and readers of C++17: those of C, in namespaces and with enumerations.
#include <iterator>

#include "events/generate/generate.h"
#include "events/generate/names.h"

namespace jprof::events {
namespace {

std::string TypeOf(const NamedEvent& event, const Field& field) {
  return field.values.empty() ? CTypeName(field.type)
                              : fmt::format("{}_{}", event.event.name, field.name);
}

void Enumerations(const NamedEvent& event, std::string& out) {
  for (const Field& field : event.fields) {
    if (field.values.empty()) continue;
    out += fmt::format("enum class {}_{} : std::uint8_t {{\n", event.event.name, field.name);
    for (const NamedValue& value : field.values)
      out += fmt::format("  {} = {},\n", value.name, value.number);
    out += "};\n";
  }
}

void DefineInNamespace(const NamedEvent& event, std::string& out) {
  std::string parameters, arguments;
  for (const Field& field : event.fields) {
    const char* comma = parameters.empty() ? "" : ", ";
    parameters += fmt::format("{}{} {}", comma, TypeOf(event, field), field.name);
    arguments += field.values.empty()
                     ? fmt::format("{}{}", comma, field.name)
                     : fmt::format("{}static_cast<std::uint8_t>({})", comma, field.name);
  }
  out += "\n" + CommentLines(event.event.documentation, "// ");
  Enumerations(event, out);
  const std::string& name = event.event.name;
  out += fmt::format("inline void {}({}) {{ ::{}({}); }}\n", name, parameters, event.joined,
                     arguments);
  out +=
      fmt::format("inline bool {}_is_on() {{ return ::{}_is_on() != 0; }}\n", name, event.joined);
  out += fmt::format("using {}_record = ::{}_record;\n", name, event.joined);
  out += fmt::format(
      "inline std::size_t {0}_read(const void* bytes, std::size_t size, {0}_record& record) {{\n"
      "  return ::{1}_read(bytes, size, &record);\n}}\n",
      name, event.joined);
}

}  // namespace

GeneratedFiles GenerateCpp(const Specification& specification) {
  GeneratedFiles files = GenerateC(specification);
  std::string out = fmt::format("// {}\n#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\n",
                                GeneratedBy(specification, "c++"));
  out += fmt::format("#include \"{}_events.h\"\n", specification.name);
  const auto events = NamedEvents(specification);
  auto event = events.begin();
  for (const EventClass& of : specification.classes) {
    out += "\n" + CommentLines(of.documentation, "// ");
    out += fmt::format("namespace {}::{} {{\n", specification.layer, of.name);
    for (size_t i = 0; i < of.events.size(); ++i) DefineInNamespace(*event++, out);
    out += fmt::format("\n}}  // namespace {}::{}\n", specification.layer, of.name);
  }
  files.push_back({specification.name + "_events.hpp", out});
  return files;
}

}  // namespace jprof::events
