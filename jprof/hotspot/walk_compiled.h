// The frame of a compiled method or of a native method's wrapper, and its caller.
#pragma once

#include "jprof/hotspot/walk_state.h"

namespace jprof::hotspot {

WalkStep StepCompiled(WalkState& walk, const CodeBlob& blob);

// The same, by the cached decoding of this return address (ReturnFacts). False: there is none.
bool StepByFacts(WalkState& walk);

}  // namespace jprof::hotspot
