#include "events/spec/read_specification.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "events/spec/check.h"
#include "events/spec/checked_xml.h"
#include "events/spec/identity.h"

namespace jprof::events {
namespace {

// The schema has validated that texts are numbers in range, and names of enumerations.
uint32_t NumberOf(std::string_view text) {
  uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<Context> ContextsOf(std::string_view list) {
  std::vector<Context> contexts;
  const std::string padded = fmt::format(" {} ", list);
  for (const ContextTraits& one : kContexts)
    if (padded.find(fmt::format(" {} ", one.name)) != padded.npos) contexts.push_back(one.context);
  return contexts;
}

Field FieldOf(const Element& element) {
  Field field;
  field.name = element["name"];
  field.unit = element["unit"];
  field.type = std::ranges::find(kTypes, element["type"], &TypeTraits::name)->type;
  for (const Element& child : element.children) {
    if (child.name == "meaning") field.meaning = child.text;
    if (child.name == "value")
      field.values.push_back({.name = std::string(child["name"]),
                              .number = static_cast<uint8_t>(NumberOf(child["number"]))});
  }
  return field;
}

void Meanings(const Element& element, Event& event) {
  for (const Element& child : element.children) {
    const std::string field(child["field"]);
    if (child.name == "documentation") event.documentation = child.text;
    if (child.name == "begin" || child.name == "end")
      event.pair = Pair{.begins = child.name == "begin",
                        .name = std::string(child["pair"]),
                        .on = std::string(child["on"])};
    if (child.name == "link") event.link = child["on"];
    if (child.name == "counter") event.counter = field;
    if (child.name == "marker") event.marker = field;
    if (child.name == "statistics") event.statistics = field;
    if (child.name == "state")
      event.state = State{.field = field, .of = ContextsOf(child["of"])[0]};
    if (child.name == "context") {
      event.written = ContextsOf(child["written"]);
      event.restored = ContextsOf(child["restored"]);
    }
    if (child.name == "field") event.fields.push_back(FieldOf(child));
  }
}

Event EventOf(const Element& element) {
  Event event;
  event.name = element["name"];
  event.version = NumberOf(element["version"]);
  event.line = element.place.line;
  const auto level = std::ranges::find(kLevels, element["level"]);
  if (level != std::end(kLevels)) event.level = static_cast<Level>(level - std::begin(kLevels));
  Meanings(element, event);
  return event;
}

EventClass ClassOf(const Element& element) {
  EventClass of{.name = std::string(element["name"]), .documentation = {}, .events = {}};
  for (const Element& child : element.children) {
    if (child.name == "documentation") of.documentation = child.text;
    if (child.name == "event") of.events.push_back(EventOf(child));
  }
  return of;
}

// Two names may have the same hash.
Result<void> CheckIds(const Specification& specification, std::string_view file) {
  std::map<uint32_t, std::string> names;
  for (const EventClass& of : specification.classes) {
    for (const Event& event : of.events) {
      const std::string name = FullName(specification, of, event);
      const auto [other, added] = names.emplace(EventId(name, event.version), name);
      if (!added)
        return Fail("{}:{}:1: {} has the same id as {}; choose another name", file, event.line,
                    name, other->second);
    }
  }
  return {};
}

Result<std::string> ReadText(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "re"), fclose);
  if (!file) return Fail("{}: {}", path, strerror(errno));
  std::string text(kMostBytes + 1, '\0');  // one more, so that the parser refuses a larger file
  errno = 0;
  text.resize(fread(text.data(), 1, text.size(), file.get()));
  if (ferror(file.get())) return Fail("{}: {}", path, strerror(errno));
  return text;
}

}  // namespace

Result<Specification> ParseSpecification(std::string_view text, std::string_view file) {
  const auto root = ReadCheckedXml(text, file);
  if (!root) return std::unexpected(root.error());
  if (auto checked = CheckMeaning(*root, file); !checked) return std::unexpected(checked.error());
  Specification specification;
  specification.name = (*root)["name"];
  specification.layer = (*root)["layer"];
  specification.text = text;
  for (const Element& child : root->children) {
    if (child.name == "documentation") specification.documentation = child.text;
    if (child.name == "class") specification.classes.push_back(ClassOf(child));
  }
  if (auto checked = CheckIds(specification, file); !checked)
    return std::unexpected(checked.error());
  return specification;
}

Result<Specification> ReadSpecification(const std::string& file) {
  const auto text = ReadText(file);
  if (!text) return std::unexpected(text.error());
  return ParseSpecification(*text, file);
}

}  // namespace jprof::events
