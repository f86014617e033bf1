// Finds what may be leaks: objects, or classes of objects, that hold much of the heap.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/load/heap.h"

namespace jprof::heap {

// One suspect: an object that no other one dominates, or all such objects of one class.
struct Suspect {
  uint32_t node = kNone;  // the object, or the largest one of the class
  uint64_t objects = 1;   // of the class
  uint64_t retained = 0;
  std::vector<uint32_t> chain;  // from the object to where what it holds spreads, the object first
  uint32_t held_type = kNone;   // the class that retains most of what the last one dominates
  uint64_t held_objects = 0, held_retained = 0;
};

// Returns the suspects that hold at least `least` of the heap, from 0 to 1, the largest first.
std::vector<Suspect> FindSuspects(const Heap& heap, const DominatorChildren& children,
                                  double least);

}  // namespace jprof::heap
