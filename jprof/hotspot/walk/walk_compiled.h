// Steps from the frame of a compiled method or of a native method's wrapper to its caller.
#pragma once

#include <cstdint>
#include <span>

#include "jprof/hotspot/walk/walk_state.h"

namespace jprof::hotspot {

WalkStep StepCompiled(WalkState& walk, const CodeBlob& blob);

// Does the same by the cached decoding of this return address (ReturnSites). Returns false if there
// is none.
bool StepBySite(WalkState& walk);

// Implements StackWalker::OptimisedMethods.
uint32_t OptimisedMethods(const StackLayout& layout, MemoryReader& memory, uint64_t pc,
                          std::span<uint64_t> out);

}  // namespace jprof::hotspot
