// Walks over the tree of dominators, without recursion: its depth may be that of the heap.
#pragma once

#include "heap/graph/dominators.h"

namespace jprof::heap {

// Calls enter(node) before and leave(node) after the nodes that it dominates.
template <typename Enter, typename Leave>
void WalkTree(const DominatorTree& tree, const DominatorChildren& children, Enter enter,
              Leave leave) {
  LazyArray<uint32_t> positions(size_t{tree.reachable} + 1);  // of the next child, by depth
  uint32_t node = kRoot, depth = 0;
  while (true) {
    const std::span<const uint32_t> below = children.Of(node);
    if (positions[depth] < below.size()) {
      node = below[positions[depth]++];
      enter(node);
      positions[++depth] = 0;
      continue;
    }
    if (depth-- == 0) return;
    leave(node);
    node = tree.dominator[node];
  }
}

}  // namespace jprof::heap
