// Runs a whole walk, from frame to frame (its parts are in WalkState).
#pragma once

#include "jprof/hotspot/walk/walk_state.h"

namespace jprof::hotspot {

// Walks from interrupted registers outwards.
StackWalk WalkFrom(const WalkTask& task, const unwind::Registers& registers,
                   const InterpreterRegisters& interpreter);

// Walks Java frames only, from the thread's last one.
StackWalk WalkJavaFrames(const WalkTask& task);

}  // namespace jprof::hotspot
