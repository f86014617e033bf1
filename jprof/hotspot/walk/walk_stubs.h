// Steps from frames of the VM's stubs, including the two transitions from native code into Java:
// the call stub, and upcalls of the foreign function interface.
#pragma once

#include "jprof/hotspot/walk/walk_state.h"

namespace jprof::hotspot {

WalkStep StepStub(WalkState& walk, const CodeBlob& blob);
WalkStep StepCallStub(WalkState& walk);
WalkStep StepUpcall(WalkState& walk, const CodeBlob& blob);

}  // namespace jprof::hotspot
