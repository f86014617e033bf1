#include "events/spec/specification.h"

#include <algorithm>

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

}  // namespace jprof::events
