#include "events/spec/check.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "events/spec/specification.h"

namespace jprof::events {
namespace {

// Reserved words of C, C++ and Java that a name could be, names of C's library that are macros,
// names of methods of each Java object, and names that generated code uses.
constexpr std::array kReserved = std::to_array<std::string_view>(
    {"abstract",      "alignas",      "alignof",    "and",       "asm",
     "assert",        "auto",         "bitand",     "bitor",     "bool",
     "boolean",       "break",        "byte",       "case",      "catch",
     "char",          "class",        "compl",      "concept",   "const",
     "consteval",     "constexpr",    "constinit",  "continue",  "decltype",
     "default",       "delete",       "do",         "double",    "else",
     "enum",          "errno",        "explicit",   "export",    "extends",
     "extern",        "false",        "final",      "finally",   "float",
     "for",           "friend",       "goto",       "if",        "implements",
     "import",        "inline",       "instanceof", "int",       "interface",
     "linux",         "long",         "mutable",    "namespace", "native",
     "new",           "noexcept",     "not",        "null",      "nullptr",
     "operator",      "or",           "package",    "private",   "protected",
     "public",        "register",     "requires",   "restrict",  "return",
     "short",         "signed",       "sizeof",     "static",    "stderr",
     "stdin",         "stdout",       "clone",      "get_class", "hash_code",
     "notify",        "notify_all",   "strictfp",   "struct",    "super",
     "switch",        "synchronized", "template",   "this",      "throw",
     "throws",        "transient",    "true",       "try",       "typedef",
     "typeid",        "to_string",    "typename",   "typeof",    "union",
     "unix",          "unsigned",     "using",      "var",       "virtual",
     "void",          "volatile",     "while",      "xor",       "std",
     "jprof",         "co_await",     "co_return",  "co_yield",  "thread_local",
     "typeof_unqual", "finalize",     "wait"});

bool IsKey(FieldType type) { return type != FieldType::kFloat64; }
bool IsNumber(FieldType type) { return type != FieldType::kString; }
bool IsText(FieldType type) { return type == FieldType::kString; }

class Checker {
 public:
  explicit Checker(std::string_view file) : file_(file) {}

  void Root(const Element& root) {
    Reserved(root, "name");
    Reserved(root, "layer");
    Distinct(root, "class");
    for (const Element& one : root.children)
      if (one.name == "class" &&
          JavaName(one["name"], true) == JavaName(root["name"], true) + "Events")
        Say(one, "'{}' would be the class of all these events in Java", one["name"]);
    for (const Element& one : root.children)
      if (one.name == "class") Class(one, root);
  }

  Result<void> result;

 private:
  template <typename... Args>
  void Say(const Element& at, fmt::format_string<Args...> format, Args&&... args) {
    if (!result) return;  // the first one is reported
    result = Fail("{}:{}:{}: {}", file_, at.place.line, at.place.column,
                  fmt::format(format, std::forward<Args>(args)...));
  }

  void Reserved(const Element& element, std::string_view attribute) {
    const bool is_type = element[attribute].ends_with("_t");  // of C
    if (is_type || std::ranges::find(kReserved, element[attribute]) != kReserved.end())
      Say(element, "'{}' is a reserved word of C, C++ or Java; choose another {}",
          element[attribute], attribute);
  }

  // Children of this kind must have names of their own that no language reserves.
  void Distinct(const Element& parent, std::string_view kind) {
    std::set<std::string_view> names;
    std::set<std::string> java_names;
    for (const Element& child : parent.children) {
      if (child.name != kind) continue;
      Reserved(child, "name");
      if (!names.insert(child["name"]).second)
        Say(child, "there is another {} with the name '{}'", kind, child["name"]);
      if (!java_names.insert(JavaName(child["name"], true)).second)
        Say(child, "another {} has the name of '{}' in Java, too", kind, child["name"]);
    }
  }

  void Class(const Element& of, const Element& root) {
    if (of["name"].ends_with("_record"))
      Say(of, "names of classes must not end with _record, which generated code appends");
    Distinct(of, "event");
    std::map<std::string_view, std::array<const Element*, 2>> pairs;
    for (const Element& event : of.children) {
      if (event.name != "event") continue;
      Event(event);
      // The C and Fortran names: layer_class_name, of which two might be equal.
      const std::string joined = fmt::format("{}_{}_{}", root["layer"], of["name"], event["name"]);
      if (joined.size() > 56)  // of Fortran's 63, seven are for what generated code appends
        Say(event, "'{}', its name in C and Fortran, has more than 56 characters", joined);
      if (!joined_.insert(joined).second)
        Say(event, "another event is called {} in C and Fortran, too", joined);
      for (const auto& [kind, end] : {std::pair("begin", 0), std::pair("end", 1)}) {
        const Element* half = event.Child(kind);
        if (half == nullptr) continue;
        const Element*& known = pairs[(*half)["pair"]][static_cast<size_t>(end)];
        if (known != nullptr)
          Say(*half, "the pair '{}' has another {} already", (*half)["pair"], kind);
        known = half;
      }
    }
    for (const auto& [name, halves] : pairs) Halves(name, halves);
  }

  void Halves(std::string_view name, const std::array<const Element*, 2>& halves) {
    const auto [begin, end] = halves;
    if (begin == nullptr || end == nullptr) {
      Say(begin == nullptr ? *end : *begin, "the pair '{}' has no {} in this class", name,
          begin == nullptr ? "begin" : "end");
    } else if ((*begin)["on"] != (*end)["on"]) {
      Say(*end, "the begin of the pair '{}' has on=\"{}\", its end on=\"{}\"", name, (*begin)["on"],
          (*end)["on"]);
    }
  }

  void Event(const Element& event) {
    for (const std::string_view end : {"_on", "_event", "_read", "_record"})
      if (event["name"].ends_with(end))
        Say(event, "names of events must not end with {}, which generated code appends", end);
    Distinct(event, "field");
    for (const Element& field : event.children)
      if (field.name == "field") Field(event, field);
    for (const std::string_view child : {"begin", "end", "link"})
      Refers(event, child, "on", "an integer or a text", IsKey);
    Refers(event, "state", "field", "an integer or a text", IsKey);
    Refers(event, "counter", "field", "a number", IsNumber);
    Refers(event, "marker", "field", "a text", IsText);
    Refers(event, "statistics", "field", "an integer", IsInteger);
  }

  void Field(const Element& event, const Element& field) {
    const Element* context = event.Child("context");
    const std::string written = fmt::format(" {} ", context ? (*context)["written"] : "");
    if (written.find(fmt::format(" {} ", field["name"])) != written.npos)
      Say(field, "the context '{}' is written already; choose another name", field["name"]);
    std::set<std::string_view> numbers;
    for (const Element& value : field.children) {
      if (value.name != "value") continue;
      if (!numbers.insert(value["number"]).second)
        Say(value, "another value has the number {}", value["number"]);
    }
    Distinct(field, "value");
    if (!numbers.empty() && field["type"] != "uint8")
      Say(field, "a field with named values has the type uint8, not {}", field["type"]);
  }

  void Refers(const Element& event, std::string_view child, std::string_view attribute,
              std::string_view wanted, bool (*fits)(FieldType)) {
    const Element* from = event.Child(child);
    if (from == nullptr || (*from)[attribute].empty()) return;
    const std::string_view name = (*from)[attribute];
    const auto field = std::ranges::find_if(event.children, [&](const Element& one) {
      return one.name == "field" && one["name"] == name;
    });
    if (field == event.children.end()) {
      return Say(*from, "the event '{}' has no field '{}'", event["name"], name);
    }
    const auto type = std::ranges::find(kTypes, (*field)["type"], &TypeTraits::name);
    if (!fits(type->type))
      Say(*from, "the field '{}' must be {}, not {}", name, wanted, type->name);
  }

  std::string_view file_;
  std::set<std::string> joined_;
};

}  // namespace

Result<void> CheckMeaning(const Element& root, std::string_view file) {
  Checker checker(file);
  checker.Root(root);
  return checker.result;
}

}  // namespace jprof::events
