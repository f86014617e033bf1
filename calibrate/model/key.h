// What a cost is learnt for: one interval between two events on a thread, named by the event
// before, the type of the method that was running, the event that ends it and the type of the other
// method (entered, or returned to). Text form as in the literature: En-J-En-N, Ex-R-Ex-r; lower
// case = static method.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "common/method_type.h"

namespace jprof::calibrate {

struct Key {
  EventKind previous = EventKind::kEntry;
  char running = '?';
  EventKind event = EventKind::kEntry;
  char other = '?';
  auto operator<=>(const Key&) const = default;
};

std::string ToString(const Key& key);
std::optional<Key> ParseKey(std::string_view text);

}  // namespace jprof::calibrate
