// Runs a whole walk, from frame to frame (its parts are in WalkState).
#pragma once

#include "jprof/hotspot/walk/walk_state.h"

namespace jprof::hotspot {

// Walks from interrupted registers outwards.
StackWalk WalkFrom(const WalkTask& task, const unwind::Registers& registers,
                   const InterpreterRegisters& interpreter);

// Walks from a return address in generated code until there are two frames, or no more in generated
// code. Returns the number of frames, which may be greater if methods are inlined.
uint32_t WalkTwoFrames(const WalkTask& task, const unwind::Registers& registers);

// Walks Java frames only, from the thread's last one.
StackWalk WalkJavaFrames(const WalkTask& task);

}  // namespace jprof::hotspot
