// Steps from interpreter frames: complete ones, those that its method entries and exits are about
// to make or have just removed, and the adapters between compiled and interpreted code.
#pragma once

#include "jprof/hotspot/walk/walk_state.h"

namespace jprof::hotspot {

WalkStep StepInterpreted(WalkState& walk, const CodeBlob& blob);
WalkStep StepAdapter(WalkState& walk, const CodeBlob& blob);

}  // namespace jprof::hotspot
