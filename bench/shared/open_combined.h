// Opens a combined profile for the programs of bench/.
#pragma once

#include <string>

#include "model/combined/combined.h"

namespace jprof::bench {

// Fails if a run cannot be opened, and if there are not at least two sampled runs.
Result<model::Combined> OpenCombined(const std::string& directory);

}  // namespace jprof::bench
