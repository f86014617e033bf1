// Names of what records of `jprof optimize` contain, in text and in JSON.
#pragma once

#include <string_view>

#include "cpo/database/records.h"

namespace jprof::cli {

constexpr std::string_view NameOf(cpo::State state) {
  constexpr std::string_view kNames[] = {"proposed", "applied", "validated", "withdrawn"};
  return kNames[static_cast<int>(state)];
}
constexpr std::string_view NameOf(cpo::RunKind kind) {
  constexpr std::string_view kNames[] = {"measured", "trial", "plain"};
  return kNames[static_cast<int>(kind)];
}
constexpr std::string_view NameOf(cpo::RunState state) {
  constexpr std::string_view kNames[] = {"running", "ended", "lost"};
  return kNames[static_cast<int>(state)];
}

}  // namespace jprof::cli
