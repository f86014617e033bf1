// What a profile is missing, by name: process-wide losses and the sums of the threads' own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "profile/reader.h"

namespace jprof::reports {

struct Loss {
  std::string_view name;  // as in JSON
  std::string_view says;  // what it means, for people: "<count> <says>"
  uint64_t count = 0;
};

// Every kind, also those with count 0.
std::vector<Loss> Losses(const profile::Reader& reader);

}  // namespace jprof::reports
