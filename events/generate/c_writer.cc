// Writes stubs and readers of C11, which C++ can include.
#include <iterator>

#include "events/generate/generate.h"
#include "events/generate/names.h"

namespace jprof::events {
namespace {

std::string Parameters(const NamedEvent& event) {
  std::string text;
  for (const Field& field : event.fields)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", CTypeName(field.type), field.name);
  return text.empty() ? "void" : text;
}

std::string Arguments(const NamedEvent& event) {
  std::string text;
  for (const Field& field : event.fields) text += (text.empty() ? "" : ", ") + field.name;
  return text;
}

// What the comment of an event says of a field.
std::string Described(const Field& field) {
  return fmt::format("{}: {}{}", field.name, field.meaning,
                     field.unit.empty() ? "" : fmt::format(" [{}]", field.unit));
}

void Comment(const NamedEvent& event, std::string& out) {
  out += fmt::format("/* {}, version {}\n *\n", event.full_name, event.event.version);
  out += CommentLines(event.event.documentation, " * ");
  for (const Field& field : event.fields) out += CommentLines(Described(field), " *   ");
  out += " */\n";
}

void Values(const NamedEvent& event, std::string& out) {
  for (const Field& field : event.fields) {
    if (field.values.empty()) continue;
    out += "enum {\n";
    for (const NamedValue& value : field.values)
      out += fmt::format("  {}_{}_{} = {},\n", UpperCase(event.joined), UpperCase(field.name),
                         UpperCase(value.name), value.number);
    out += "};\n";
  }
}

// The value that is summed up, as a signed integer.
std::string StatisticsValue(const NamedEvent& event) {
  const std::string& name = event.event.statistics;
  const Field* field = FindField(event.event, name);
  if (field == nullptr) return "0";
  if (TraitsOf(field->type).size == 8 && !TraitsOf(field->type).is_signed)
    return fmt::format("{0} > INT64_MAX ? INT64_MAX : (int64_t){0}", name);
  return name;
}

void Count(const NamedEvent& event, std::string_view indent, std::string& out) {
  out += fmt::format("{}jprof_events_count(&{}_event, {});\n", indent, event.joined,
                     StatisticsValue(event));
}

void Declare(const NamedEvent& event, std::string& out) {
  Comment(event, out);
  Values(event, out);
  const std::string& name = event.joined;
  out += fmt::format("extern jprof_events_event {}_event;\n", name);
  out += fmt::format("void {}_on({});\n", name, Parameters(event));
  out += fmt::format(
      "static inline int {0}_is_on(void) {{ return JPROF_EVENTS_LEVEL({0}_event) != 0; }}\n", name);
  out += fmt::format("static inline void {}({}) {{\n", name, Parameters(event));
  out += fmt::format("  const uint8_t level_ = JPROF_EVENTS_LEVEL({}_event);\n", name);
  out += "  if (JPROF_EVENTS_LIKELY(level_ == JPROF_EVENTS_OFF)) return;\n";
  out += "  if (level_ == JPROF_EVENTS_STATISTICS)\n";
  Count(event, "    ", out);
  out += fmt::format("  else\n    {}_on({});\n}}\n", name, Arguments(event));
}

void DeclareReader(const NamedEvent& event, std::string& out) {
  out += fmt::format("typedef struct {{\n  uint64_t ticks_;\n");
  for (const Field& field : event.fields)
    out += fmt::format("  {} {};\n", CTypeName(field.type), field.name);
  out += fmt::format("}} {}_record;\n", event.joined);
  out += fmt::format("#define {}_ID {}u\n", UpperCase(event.joined), event.id);
  out += fmt::format("size_t {0}_read(const void* bytes, size_t size, {0}_record* record);\n",
                     event.joined);
}

std::string Header(const Specification& specification) {
  const std::string guard = UpperCase(specification.name) + "_EVENTS_H";
  std::string out = fmt::format("/* {} Link {}_events.c and -ljprof-events. */\n",
                                GeneratedBy(specification, "c"), specification.name);
  out += fmt::format("#ifndef {0}\n#define {0}\n\n#include <jprof-events.h>\n\n", guard);
  out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const NamedEvent& event : NamedEvents(specification)) {
    out += "\n";
    Declare(event, out);
  }
  out +=
      "\n/* Readers: each reads a record of its event, which begins with time and id. It returns"
      "\n * the bytes that the record has, or 0 if it is another event or not complete. Texts are"
      "\n * those in `bytes`. */\n";
  for (const NamedEvent& event : NamedEvents(specification)) DeclareReader(event, out);
  return out + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

void Put(const NamedEvent& event, std::string& out) {
  for (const Field& field : event.fields) {
    out += field.type == FieldType::kString
               ? fmt::format("  jprof_events_put_text(&record_, {});\n", field.name)
               : fmt::format("  JPROF_EVENTS_PUT(&record_, {});\n", field.name);
  }
}

// The number by which the end of a pair finds its begin.
std::string Key(const Event& event) {
  const Field* field = event.pair ? FindField(event, event.pair->on) : nullptr;
  if (field == nullptr) return "0";
  return field->type == FieldType::kString ? fmt::format("jprof_events_key({})", field->name)
                                           : fmt::format("(uint64_t){}", field->name);
}

// What is done for an event that has consumers, which get its record.
void DefineDeliver(const NamedEvent& event, std::string& out) {
  out += fmt::format("\n__attribute__((noinline)) static void {}_deliver_({}) {{\n", event.joined,
                     Parameters(event));
  out += fmt::format("  unsigned char bytes_[JPROF_EVENTS_HEADER_BYTES + {}];\n",
                     MostBytes(event.fields));
  out += "  jprof_events_record record_ = {bytes_ + JPROF_EVENTS_HEADER_BYTES, 0};\n";
  Put(event, out);
  out += fmt::format(
      "  jprof_events_deliver(&{}_event, bytes_, (size_t)(record_.at - bytes_), {});\n}}\n",
      event.joined, Key(event.event));
}

// Pair, half and contexts of the definition of an event.
std::string Meaning(const NamedEvent& event) {
  const std::optional<Pair>& pair = event.event.pair;
  int contexts = 0;
  for (const Context one : event.event.written) contexts |= 1 << static_cast<int>(one);
  if (!pair) return fmt::format("NULL, 0, 0, {}, 0", contexts);
  const size_t class_end = event.full_name.rfind(':') + 1;
  return fmt::format("\"{}{}\", {}, {}, {}, 0", event.full_name.substr(0, class_end), pair->name,
                     pair->begins ? "JPROF_EVENTS_BEGIN" : "JPROF_EVENTS_END",
                     pair->on.empty() ? 1 : 0, contexts);
}

// What is done for an event whose level is not off. It looks after all combinations, so that log
// alone costs one comparison; statistics alone are inlined where the event is written.
void DefineOn(const NamedEvent& event, std::string& out) {
  out += fmt::format("\nvoid {}_on({}) {{\n", event.joined, Parameters(event));
  out += fmt::format("  const uint8_t level_ = JPROF_EVENTS_LEVEL({}_event);\n", event.joined);
  out += "  jprof_events_record record_;\n";
  out += "  if (JPROF_EVENTS_UNLIKELY(level_ != JPROF_EVENTS_LOG)) {\n";
  out += "    if (level_ & JPROF_EVENTS_STATISTICS)\n";
  Count(event, "      ", out);
  out += fmt::format("    if (level_ & JPROF_EVENTS_CALLBACK)\n      {}_deliver_({});\n",
                     event.joined, Arguments(event));
  out += "    if ((level_ & (JPROF_EVENTS_CALLBACK | JPROF_EVENTS_LOG)) != JPROF_EVENTS_LOG)\n";
  out += "      return;\n  }\n";
  out += fmt::format(
      "  if (!jprof_events_begin(&record_, {}u, JPROF_EVENTS_HEADER_BYTES + {})) return;\n",
      event.id, MostBytes(event.fields));
  Put(event, out);
  out += "  jprof_events_commit(&record_);\n}\n";
}

void Define(const NamedEvent& event, std::string& out) {
  const std::string& name = event.joined;
  out += fmt::format("\njprof_events_event {}_event = {{\n", name);
  out += fmt::format("    0, {}, {}, {}u, 0,\n    \"{}\",\n{},\n    {}}};\n",
                     static_cast<int>(event.event.level), event.event.version, event.id,
                     event.full_name, CLiteral(TsdlOf(event), "    "), Meaning(event));
  DefineDeliver(event, out);
  DefineOn(event, out);
}

void DefineReader(const NamedEvent& event, std::string& out) {
  out += fmt::format(
      "\nsize_t {0}_read(const void* bytes, size_t size, {0}_record* record) {{\n"
      "  const char* at = (const char*)bytes;\n  const char* end = at + size;\n  uint32_t id;\n",
      event.joined);
  out += "  GET(record->ticks_);\n  GET(id);\n";
  out += fmt::format("  if (id != {}u) return 0;\n", event.id);
  for (const Field& field : event.fields)
    out += fmt::format("  {}(record->{});\n", field.type == FieldType::kString ? "TEXT" : "GET",
                       field.name);
  out += "  return (size_t)(at - (const char*)bytes);\n}\n";
}

void DefineProvider(const Specification& specification, std::string& out) {
  const auto events = NamedEvents(specification);
  out += "\nstatic jprof_events_event* const events[] = {\n";
  for (const NamedEvent& event : events) out += fmt::format("    &{}_event,\n", event.joined);
  out += "};\n\nstatic const char specification[] =\n" + CLiteral(specification.text, "    ");
  out += fmt::format(
      ";\n\nstatic jprof_events_provider provider = {{\n    JPROF_EVENTS_INTERFACE, {}, \"{}\", "
      "specification, events, NULL}};\n",
      events.size(), specification.name);
  out +=
      "\n__attribute__((constructor)) static void register_events(void) {\n"
      "  jprof_events_register(&provider);\n}\n";
}

constexpr char kReading[] = R"(
/* What is missing ends the reader of a record. */
#define GET(value)                                                      \
  do {                                                                  \
    if ((size_t)(end - at) < sizeof(value)) return 0;                   \
    memcpy(&(value), at, sizeof(value));                                \
    at += sizeof(value);                                                \
  } while (0)
#define TEXT(value)                                                     \
  do {                                                                  \
    const void* zero = memchr(at, 0, (size_t)(end - at));               \
    if (zero == NULL) return 0;                                         \
    (value) = at;                                                       \
    at = (const char*)zero + 1;                                         \
  } while (0)
)";

std::string Source(const Specification& specification) {
  std::string out = fmt::format("/* {} */\n", GeneratedBy(specification, "c"));
  out += "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n";
  out += fmt::format("#include \"{}_events.h\"\n", specification.name);
  for (const NamedEvent& event : NamedEvents(specification)) Define(event, out);
  out += kReading;
  for (const NamedEvent& event : NamedEvents(specification)) DefineReader(event, out);
  DefineProvider(specification, out);
  return out;
}

}  // namespace

GeneratedFiles GenerateC(const Specification& specification) {
  return {{specification.name + "_events.h", Header(specification)},
          {specification.name + "_events.c", Source(specification)}};
}

}  // namespace jprof::events
