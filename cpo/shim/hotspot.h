// The memory of HotSpot, JDK 17 to 25, as libjvm.so describes it itself: the Java heap of G1,
// Parallel and Serial, the code cache and the space of compressed classes. ZGC and Shenandoah do
// not describe their heaps so.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace jprof::cpo {

// If `caller` is code of libjvm.so, looks whether the VM has described its memory. Logs the regions
// that are new, and advises what of them is in use.
void LookAtHotSpot(uint64_t caller);

// Returns whether memory that was mapped is in one of the regions, where the VM commits and gives
// back parts in this way. Advises it if so, unless it is given back.
bool IsHotSpotMemory(void* memory, size_t bytes, int protection);

}  // namespace jprof::cpo
