// Operations on a thread's shadow stack that its fast path does not need. Only the thread itself
// may call them.
#pragma once

#include <span>

#include "jprof/engine/thread.h"

namespace jprof::engine {

// Doubles the space for frames. Returns false if there is no memory.
bool GrowFrames(Thread& thread);

// Enters the functions that were open when the recording began. Their rows have no calls, unless
// they are called again in the same context.
void PushOpenFrames(Thread& thread, std::span<const Frame> open_frames);

}  // namespace jprof::engine
