// Changes a thread's shadow stack in ways that the fast path does not need. Only the thread itself
// may call these functions.
#pragma once

#include <span>

#include "jprof/engine/thread.h"

namespace jprof::engine {

// Doubles the space for frames. Returns false if there is no memory.
bool GrowFrames(Thread& thread);

// Returns whether a frame was open when the recording began.
inline bool IsOpen(const Frame& frame) { return (frame.method & kOpenBit) != 0; }
// Returns the method of a frame as events have it.
inline uint64_t MethodOf(const Frame& frame) {
  return frame.method & ~(kOpenBit | kWatchedBit | kGateBit);
}
// Returns whether a frame is that of a label.
inline bool IsLabel(const Frame& frame) { return (frame.method & kLabelBit) != 0; }
// Returns the innermost frame of a method, or null if there is none.
Frame* FrameOf(const Thread& thread, uint64_t method);

// Returns whether a frame no longer exists at a stack pointer. The thread row is never gone.
bool IsGone(const Frame& frame, uint64_t sp);
// Ends the frames that no longer exist according to the stack pointer, as if by an exception.
void Heal(Thread& thread, uint64_t sp);
// Counts the ends of the frames above `frame`, which stay on the stack.
void EndFramesAbove(Thread& thread, const Frame* frame);

// Enters the functions that were open when the recording began. Their rows have no calls, unless
// they are called again in the same context.
void PushOpenFrames(Thread& thread, std::span<const Frame> open_frames);

}  // namespace jprof::engine
