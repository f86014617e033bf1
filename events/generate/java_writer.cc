// Writes stubs and readers of Java 17: a class with a nested class for each class of events.
// Unsigned numbers are signed ones of the same size. Names of Java and of the library are written
// in full, so that no name of the specification hides them.
#include <cctype>
#include <iterator>

#include "events/generate/generate.h"
#include "events/generate/names.h"

namespace jprof::events {
namespace {

// Returns the characters of the text, which is valid UTF-8, as javac reads them in any encoding.
std::string Ascii(std::string_view text) {
  std::string ascii;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) {
      ascii += static_cast<char>(lead);
      continue;
    }
    const size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    uint32_t point = lead & (0x3fu >> more);
    for (size_t k = 0; k < more && i < text.size(); ++k)
      point = point << 6 | (static_cast<unsigned char>(text[i++]) & 0x3fu);
    if (point < 0x10000) {
      ascii += fmt::format("\\u{:04x}", point);
    } else {  // surrogates
      point -= 0x10000;
      ascii += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (point >> 10), 0xdc00 + (point & 0x3ff));
    }
  }
  return ascii;
}

// Returns an expression for the text, a literal for each line. The constants of a class file have
// at most 65,535 bytes, so parts of a long text are joined when the class is initialised.
std::string JavaText(std::string_view text, std::string_view indent) {
  constexpr size_t kPart = 20000;
  std::string expression = fmt::format("{}java.lang.String.join(\"\"", indent);
  size_t in_part = kPart;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') + 1);  // all if there is none
    const std::string_view taken = line.empty() ? text : line;
    text.remove_prefix(taken.size());
    in_part += taken.size();
    std::string escaped;
    for (const char byte : taken) {
      if (byte == '"' || byte == '\\') escaped += '\\';
      escaped += byte == '\n'   ? "\\n"
                 : byte == '\t' ? "\\t"
                 : byte == '\r' ? "\\r"
                                : std::string(1, byte);
    }
    expression +=
        fmt::format("{}\n{}    \"{}\"", in_part > kPart ? "," : " +", indent, Ascii(escaped));
    if (in_part > kPart) in_part = taken.size();
  }
  return expression + ")";
}

std::string_view JavaType(FieldType type) {
  if (type == FieldType::kString) return "java.lang.String";
  if (type == FieldType::kFloat64) return "double";
  switch (TraitsOf(type).size) {
    case 1:
      return "byte";
    case 2:
      return "short";
    case 4:
      return "int";
    default:
      return "long";
  }
}

// The value that is summed up, which does not become negative if its type is unsigned.
std::string SummedUp(const Event& event) {
  const Field* field = FindField(event, event.statistics);
  if (field == nullptr) return "0";
  const std::string name = JavaName(field->name, false);
  const TypeTraits& traits = TraitsOf(field->type);
  if (traits.is_signed) return name;
  if (traits.size == 8) return fmt::format("{0} < 0 ? java.lang.Long.MAX_VALUE : {0}", name);
  return fmt::format("{} & 0x{}L", name, std::string(2 * traits.size, 'f'));
}

void JavaComment(const NamedEvent& event, std::string& out) {
  std::string text = event.event.documentation;
  for (const Field& field : event.fields)
    text += fmt::format(" {}: {}", JavaName(field.name, false), field.meaning);
  std::string escaped;
  for (const char byte : text) {
    if (byte == '<' || byte == '&' || byte == '@' || byte == '\\') {
      escaped += fmt::format("&#{};", static_cast<int>(byte));
    } else {
      escaped += byte;
    }
  }
  out += "\n        /**\n" + Ascii(CommentLines(escaped, "         * ")) + "         */\n";
}

struct Signature {
  std::string parameters, arguments;
};

Signature SignatureOf(const NamedEvent& event) {
  Signature signature;
  for (const Field& field : event.fields) {
    const char* comma = signature.parameters.empty() ? "" : ", ";
    const std::string name = JavaName(field.name, false);
    signature.parameters += fmt::format("{}{} {}", comma, JavaType(field.type), name);
    signature.arguments += fmt::format("{}{}", comma, name);
  }
  return signature;
}

void Constants(const NamedEvent& event, std::string& out) {
  for (const Field& field : event.fields)
    for (const NamedValue& value : field.values)
      out += fmt::format("\n        public static final byte {}_{}_{} = (byte) {};\n",
                         UpperCase(event.event.name), UpperCase(field.name), UpperCase(value.name),
                         value.number);
}

constexpr char kStub[] = R"(        public static void {0}({1}) {{
            if (All_.{2}.level() != 0) {0}_on({3});
        }}

        public static boolean {0}IsOn() {{
            return All_.{2}.level() != 0;
        }}

        private static void {0}_on({1}) {{
            int level_ = All_.{2}.level();
            if ((level_ & jprof.events.Event.STATISTICS) != 0) {{
                jprof.events.Writer.count(All_.{2}, {4});
            }}
            if ((level_ & jprof.events.Event.LOG) == 0) return;
            jprof.events.Writer writer_ = jprof.events.Writer.begin(All_.{2}, {5});
            if (writer_ == null) return;
)";

void Stub(const NamedEvent& event, std::string& out) {
  const Signature signature = SignatureOf(event);
  Constants(event, out);
  JavaComment(event, out);
  out += fmt::format(kStub, JavaName(event.event.name, false), signature.parameters,
                     UpperCase(event.joined), signature.arguments, SummedUp(event.event),
                     MostBytes(event.fields));
  for (const Field& field : event.fields)
    out += fmt::format("            writer_.put({});\n", JavaName(field.name, false));
  out += "            writer_.commit();\n        }\n";
}

// Returns getInt for an int.
std::string Getter(FieldType type) {
  if (type == FieldType::kString) return "getText";
  std::string name(JavaType(type));
  name[0] = static_cast<char>(std::toupper(name[0]));
  return "get" + name;
}

constexpr char kJavaReader[] = R"(
        /**
         * A record of {0}, version {1}.
         */
        public record {2}Record(long ticks_{3}) {{
            public static final int ID = {4};

            /**
             * Reads the next record of the packet. Returns null if it is another event, or not
             * complete.
             */
            public static {2}Record read(jprof.events.Packet packet_) {{
                if (!packet_.begin(ID)) return null;
                {2}Record record_ = new {2}Record(packet_.ticks(){5});
                return packet_.end() ? record_ : null;
            }}
        }}
)";

void JavaReader(const NamedEvent& event, std::string& out) {
  std::string components, values;
  for (const Field& field : event.fields) {
    components += fmt::format(", {} {}", JavaType(field.type), JavaName(field.name, false));
    values += fmt::format(", packet_.{}()", Getter(field.type));
  }
  out += fmt::format(kJavaReader, event.full_name, event.event.version,
                     JavaName(event.event.name, true), components, static_cast<int32_t>(event.id),
                     values);
}

constexpr char kClass[] = R"(
    /**
{1}     */
    public static final class {0} {{
        private {0}() {{}}
)";

constexpr char kAll[] = R"(
    /** Makes all events known, so that their levels can be set before the first one is written. */
    public static void register() {
        All_.PROVIDER.name();
    }

    private static final class All_ {
)";

constexpr char kEvent[] = R"(        static final jprof.events.Event {0} =
            new jprof.events.Event("{1}", {2}, {3}, {4},
{5});
)";

constexpr char kProvider[] = R"(        static final jprof.events.Provider PROVIDER =
            new jprof.events.Provider("{0}",
{1}{2});

        static {{
            jprof.events.Trace.register(PROVIDER);
        }}
    }}
)";

void AllEvents(const Specification& specification, std::string& out) {
  constexpr std::string_view kIndent = "                ";
  out += kAll;
  std::string names;
  for (const NamedEvent& event : NamedEvents(specification)) {
    const std::string constant = UpperCase(event.joined);
    out += fmt::format(kEvent, constant, event.full_name, event.event.version,
                       static_cast<int32_t>(event.id), static_cast<int>(event.event.level),
                       JavaText(TsdlOf(event), kIndent));
    names += ", " + constant;
  }
  out += fmt::format(kProvider, specification.name, JavaText(specification.text, kIndent), names);
}

}  // namespace

GeneratedFiles GenerateJava(const Specification& specification) {
  const std::string name = JavaName(specification.name, true) + "Events";
  std::string out = fmt::format("// {}\n// Requires jprof-events.jar.\npackage {}_events;\n\n",
                                GeneratedBy(specification, "java"), specification.name);
  out += fmt::format("public final class {0} {{\n    private {0}() {{}}\n", name);
  const auto events = NamedEvents(specification);
  auto event = events.begin();
  for (const EventClass& of : specification.classes) {
    out += fmt::format(kClass, JavaName(of.name, true),
                       Ascii(CommentLines(of.documentation, "     * ")));
    for (size_t i = 0; i < of.events.size(); ++i, ++event) {
      Stub(*event, out);
      JavaReader(*event, out);
    }
    out += "    }\n";
  }
  AllEvents(specification, out);
  return {{name + ".java", out + "}\n"}};
}

}  // namespace jprof::events
