#include "events/spec/specification.h"

#include <algorithm>
#include <cctype>

namespace jprof::events {

std::vector<Field> RecordFields(const Event& event) {
  std::vector<Field> fields;
  for (const Context context : event.written) {
    const ContextTraits& traits = TraitsOf(context);
    fields.push_back({.name = std::string(traits.name),
                      .type = traits.type,
                      .unit = {},
                      .meaning = std::string(traits.meaning),
                      .values = {}});
  }
  fields.insert(fields.end(), event.fields.begin(), event.fields.end());
  return fields;
}

const Field* FindField(const Event& event, std::string_view name) {
  const auto found = std::ranges::find(event.fields, name, &Field::name);
  return found == event.fields.end() ? nullptr : &*found;
}

std::string JavaName(std::string_view name, bool first_is_large) {
  std::string java;
  bool is_large = first_is_large;
  for (const char byte : name) {
    if (byte != '_')
      java += is_large ? static_cast<char>(std::toupper(static_cast<unsigned char>(byte))) : byte;
    is_large = byte == '_';
  }
  return java;
}

}  // namespace jprof::events
