// Allocates and frees the memory of threads and of virtual threads. Each has one mapping, which
// contains the state, the first shadow stack and, for a thread, the first method cache. What
// outgrows them has mappings of its own.
//
// With functions of C and C++ shadow stacks are larger: the handler of a signal that makes the
// frames move would leave the interrupted code with their old address.
#pragma once

#include <cstdint>

#include "jprof/engine/method_cache.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

inline constexpr uint32_t kFirstBuckets = 16;

// Returns the state of a thread with an empty shadow stack, or null if there is no memory.
Thread* MakeThread(bool has_functions);
// Frees a thread's memory, including the timeline of a mounted virtual thread. Requires that no
// other thread can reach it.
void FreeThread(Thread& thread);

// Does the same for the timeline of a virtual thread.
Timeline* MakeTimeline(bool has_functions);
void FreeTimeline(Timeline& timeline);

// Returns the first method cache and the first shadow stack of what is current: they must not be
// freed alone. The latter is the thread's or that of the mounted virtual thread.
const MethodBucket* FirstBuckets(const Thread& thread);
const Frame* FirstFrames(const Thread& thread);

}  // namespace jprof::engine
