// Which calls were slow, and how many were watched, as the file `slow_calls` of a profile of `jprof
// trace --slow` has it (profile/files/slow_call.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/files/slow_call.h"

namespace jprof::profile {

class Reader;

// The watched calls of an item of SLOW, over all threads.
struct WatchedItem {
  uint64_t calls = 0, slow = 0, unended = 0;
};

struct SlowCalls {
  std::vector<SlowCall> calls;     // the slowest first
  std::vector<WatchedItem> items;  // in the order of SLOW
};

// Returns "3 of 1000 calls of com.acme.Cart.total lasted 10ms or longer" for each item of SLOW, or
// an empty text if the profile has none.
std::string SlowText(const Reader& reader);

}  // namespace jprof::profile
