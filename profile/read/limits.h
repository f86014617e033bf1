// What a recording of calls was limited to while the program ran (docs/TRIGGERS.md).
#pragma once

#include <string>

#include "profile/files/layout.h"
#include "profile/files/meta.h"

namespace jprof::profile {

// Returns "only within com.acme.Server.handle, without the first 100 of 5000 calls; stopped twice",
// or an empty text if everything was recorded.
std::string LimitsText(const Meta& meta, const ControlHeader& header);

}  // namespace jprof::profile
