// Finds the sizes of objects in the JVM's heap, which a dump does not contain.
//
// An id is an address, so the distance to the next object is a limit, and in a heap without gaps
// the size itself. Of the layouts that HotSpot has, the one is chosen that explains most distances;
// what is not in the dump (fields that the JVM adds, padding) follows from the distances.
#pragma once

#include "heap/load/heap.h"

namespace jprof::heap {

// Fills the sizes of shapes and classes.
void FindSizes(Heap& heap);

}  // namespace jprof::heap
