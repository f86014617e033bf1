// The first pass over a dump: which classes and objects there are.
#pragma once

#include "heap/load/heap.h"

namespace jprof::heap {

// Fills the classes, with names and without sizes, the objects with their ids and shapes, and the
// roots. Fails if there are too many objects for 32 bits.
Result<void> Survey(Heap& heap, const std::function<void(double)>& progress);

}  // namespace jprof::heap
