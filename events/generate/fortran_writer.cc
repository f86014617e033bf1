// Writes stubs of Fortran 2008: a module whose subroutines test the byte of the event that the
// generated C defines, and call that. Unsigned numbers are signed ones of the same size.
#include <iterator>

#include "events/generate/generate.h"
#include "events/generate/names.h"

namespace jprof::events {
namespace {

std::string_view KindOf(FieldType type) {
  switch (TraitsOf(type).size) {
    case 1:
      return "integer(c_int8_t)";
    case 2:
      return "integer(c_int16_t)";
    case 4:
      return "integer(c_int32_t)";
    default:
      return type == FieldType::kFloat64 ? "real(c_double)" : "integer(c_int64_t)";
  }
}

// Lines have at most 132 columns: each name is on its own.
std::string Names(const NamedEvent& event, std::string_view indent, bool convert) {
  std::string text;
  for (const Field& field : event.fields) {
    const bool is_text = convert && field.type == FieldType::kString;
    text += fmt::format("{} &\n{}{}", text.empty() ? "" : ",", indent,
                        is_text ? fmt::format("trim({}) // c_null_char", field.name) : field.name);
  }
  return text;
}

void Interface(const NamedEvent& event, std::string& out) {
  out += fmt::format("    subroutine {}_on({}) &\n        bind(c, name=\"{}_on\")\n", event.joined,
                     Names(event, "        ", false), event.joined);
  out += "      import\n";
  for (const Field& field : event.fields) {
    out += field.type == FieldType::kString
               ? fmt::format("      character(kind=c_char), intent(in) :: {}(*)\n", field.name)
               : fmt::format("      {}, value :: {}\n", KindOf(field.type), field.name);
  }
  out += fmt::format("    end subroutine {}_on\n", event.joined);
}

void Subroutine(const NamedEvent& event, std::string& out) {
  out += "\n" + CommentLines(event.event.documentation, "  ! ");
  for (const Field& field : event.fields) {
    out += CommentLines(fmt::format("{}: {}", field.name, field.meaning), "  !   ");
    for (const NamedValue& value : field.values)
      out += fmt::format("  !     {}: {}\n", value.number, value.name);
  }
  out += fmt::format("  subroutine {}({})\n", event.joined, Names(event, "      ", false));
  for (const Field& field : event.fields) {
    out += field.type == FieldType::kString
               ? fmt::format("    character(len=*), intent(in) :: {}\n", field.name)
               : fmt::format("    {}, intent(in) :: {}\n", KindOf(field.type), field.name);
  }
  out += fmt::format("    if ({0}_level /= 0_c_int8_t) call {0}_on({1})\n", event.joined,
                     Names(event, "        ", true));
  out += fmt::format("  end subroutine {}\n", event.joined);
}

}  // namespace

GeneratedFiles GenerateFortran(const Specification& specification) {
  GeneratedFiles files = GenerateC(specification);
  const auto events = NamedEvents(specification);
  const std::string module = specification.name + "_events";
  std::string out = CommentLines(fmt::format("{} Link {}.c and -ljprof-events.",
                                             GeneratedBy(specification, "fortran"), module),
                                 "! ");
  out += fmt::format("module {}\n  use, intrinsic :: iso_c_binding\n  implicit none\n  private\n",
                     module);
  for (const NamedEvent& event : events) out += fmt::format("  public :: {}\n", event.joined);
  out += "\n  ! The first byte of each event, which says whether it is on.\n";
  for (const NamedEvent& event : events)
    out += fmt::format("  integer(c_int8_t), volatile, bind(c, name=\"{0}_event\") :: {0}_level\n",
                       event.joined);
  out += "\n  interface\n";
  for (const NamedEvent& event : events) Interface(event, out);
  out += "  end interface\n\ncontains\n";
  for (const NamedEvent& event : events) Subroutine(event, out);
  out += fmt::format("\nend module {}\n", module);
  files.push_back({module + ".f90", out});
  return files;
}

}  // namespace jprof::events
