// PAPI's part of the names: presets and the events that they resolve to. The library is initialised
// at first use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::ptm::papi {

struct Preset {
  // If there is more than one, the preset is a formula over them. There is none if the preset is
  // not available on this CPU.
  std::vector<std::string> natives;
};

// Finds a preset; `name` is in upper case. Fails if PAPI does not have it or cannot start.
Result<Preset> FindPreset(const std::string& name);

// Returns the kernel's generic event for a well-known preset ("perf::INSTRUCTIONS" for
// PAPI_TOT_INS), for CPUs and machines where PAPI offers none. Returns an empty text if there
// is none.
std::string_view GenericEvent(std::string_view name);

std::string Description(const std::string& name);  // empty if PAPI does not have it
std::vector<std::string> PresetNames();
std::string Version();

}  // namespace jprof::ptm::papi
