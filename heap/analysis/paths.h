// Finds why an object is alive: a shortest path to it from a root.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heap/load/heap.h"

namespace jprof::heap {

struct PathStep {
  uint32_t node = kNone;
  std::string field;  // of this object or class, that refers to the next step; empty for the last
};

struct RootPath {
  SubTag root = SubTag::kRootUnknown;
  std::vector<PathStep> steps;  // the object at the root first
};

// Returns a shortest path to one of the nodes for which is_wanted[node], or nothing if none can be
// reached. Requires a heap that was loaded with its references.
std::optional<RootPath> FindPath(const Heap& heap, const std::vector<bool>& is_wanted);

}  // namespace jprof::heap
