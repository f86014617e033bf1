// Writes stubs and readers of Fortran 2008: a module whose subroutines test the byte of the event
// that the generated C defines, and call that, and whose functions call the readers of C. Unsigned
// numbers are signed ones of the same size.
#include <algorithm>
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

// The components of a record: as C has them, or with texts of Fortran.
void Components(const NamedEvent& event, std::string_view indent, std::string_view text,
                std::string& out) {
  out += fmt::format("{}integer(c_int64_t) :: ticks_\n", indent);
  for (const Field& field : event.fields)
    out += fmt::format("{}{} :: {}\n", indent,
                       field.type == FieldType::kString ? text : KindOf(field.type), field.name);
}

void RecordType(const NamedEvent& event, std::string& out) {
  out += fmt::format("\n  ! A record of {}, version {}.\n", event.full_name, event.event.version);
  out += fmt::format("  type, public :: {}_record\n", event.joined);
  Components(event, "    ", "character(len=:), allocatable", out);
  out += fmt::format("  end type {}_record\n", event.joined);
}

constexpr char kFortranReader[] = R"(
  ! Reads a record of {0}, which begins with time and id. Returns how
  ! many bytes it has, or 0 if it is another event or is not complete.
  function {0}_read(bytes, record) result(size_)
    integer(c_int8_t), intent(in), contiguous, target :: bytes(:)
    type({0}_record), intent(out) :: record
    integer(c_size_t) :: size_
    type, bind(c) :: layout_
{1}    end type layout_
    interface
      integer(c_size_t) function read_(bytes, size, record) &
          bind(c, name="{0}_read")
        import :: layout_, c_ptr, c_size_t
        type(c_ptr), value :: bytes
        integer(c_size_t), value :: size
        type(layout_), intent(inout) :: record
      end function read_
    end interface
    type(layout_) :: layout
    size_ = 0
    if (size(bytes) == 0) return
    size_ = read_(c_loc(bytes), size(bytes, kind=c_size_t), layout)
    if (size_ == 0) return
    record%ticks_ = layout%ticks_
{2}  end function {0}_read
)";

void FortranReader(const NamedEvent& event, std::string& out) {
  std::string layout, copies;
  Components(event, "      ", "type(c_ptr)", layout);
  for (const Field& field : event.fields)
    copies += field.type == FieldType::kString
                  ? fmt::format("    record%{0} = text_(layout%{0})\n", field.name)
                  : fmt::format("    record%{0} = layout%{0}\n", field.name);
  out += fmt::format(kFortranReader, event.joined, layout, copies);
}

constexpr char kText[] = R"(
  ! Returns the characters before the zero byte.
  function text_(from) result(text)
    type(c_ptr), intent(in) :: from
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    interface
      integer(c_size_t) function strlen(text) bind(c)
        import :: c_ptr, c_size_t
        type(c_ptr), value :: text
      end function strlen
    end interface
    integer :: i
    call c_f_pointer(from, characters, [strlen(from)])
    allocate(character(len=size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function text_
)";

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
  for (const NamedEvent& event : events)
    out += fmt::format("  public :: {0}, {0}_read\n", event.joined);
  for (const NamedEvent& event : events) RecordType(event, out);
  out += "\n  ! The first byte of each event, which says whether it is on.\n";
  for (const NamedEvent& event : events)
    out += fmt::format("  integer(c_int8_t), volatile, bind(c, name=\"{0}_event\") :: {0}_level\n",
                       event.joined);
  out += "\n  interface\n";
  for (const NamedEvent& event : events) Interface(event, out);
  out += "  end interface\n\ncontains\n";
  for (const NamedEvent& event : events) Subroutine(event, out);
  for (const NamedEvent& event : events) FortranReader(event, out);
  const auto has_text = [](const NamedEvent& event) {
    return std::ranges::find(event.fields, FieldType::kString, &Field::type) != event.fields.end();
  };
  if (std::ranges::any_of(events, has_text)) out += kText;
  out += fmt::format("\nend module {}\n", module);
  files.push_back({module + ".f90", out});
  return files;
}

}  // namespace jprof::events
