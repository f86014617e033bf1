// The key of an overhead: a transition, that is one interval between two events of a thread. It
// consists of the previous event, the type of the running method, the event that ends the interval
// and the type of the other method (entered, or returned to). The text form is that of the
// literature, En-J-En-N or Ex-R-Ex-r, where lower case means a static method.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "common/frame_kind.h"

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
