// PAPI's part of the names: presets and the events that they resolve to. Initialises the library at
// first use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::ptm::papi {

struct Preset {
  // More than one: the preset is a formula over them. None: not available on this CPU.
  std::vector<std::string> natives;
};

// `name` is in upper case. Error: PAPI does not have it, or cannot start.
Result<Preset> FindPreset(const std::string& name);

// The kernel's generic event for a well-known preset ("perf::INSTRUCTIONS" for PAPI_TOT_INS), for
// CPUs and machines where PAPI offers none; empty: there is none.
std::string_view GenericEvent(std::string_view name);

std::string Description(const std::string& name);  // empty: PAPI does not have it
std::vector<std::string> PresetNames();
std::string Version();

}  // namespace jprof::ptm::papi
