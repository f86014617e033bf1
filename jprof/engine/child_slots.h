// Finds a child of a node in the node's own slots. These functions are inlined into the fast path.
#pragma once

#include <cstdint>

#include "jprof/engine/thread.h"
#include "profile/files/layout.h"

namespace jprof::engine::internal {

// Returns whether a method is one of the three children in the parent's own cache line, and
// sets `node` if it is.
[[gnu::always_inline]] inline bool NearChild(const profile::Node& parent, profile::MethodId method,
                                             uint32_t* node) {
  if (parent.child[0].key == IndexOf(method)) {
    *node = parent.child[0].node;
  } else if (parent.child[1].key == IndexOf(method)) {
    *node = parent.child[1].node;
  } else if (parent.child[2].key == IndexOf(method)) {
    *node = parent.child[2].node;
  } else {
    return false;
  }
  return true;
}

// Does the same for the seven children in the parent's first block, which is a second cache line.
[[gnu::always_inline]] inline bool BlockChild(const Thread& thread, const profile::Node& parent,
                                              profile::MethodId method, uint32_t* node) {
  if (parent.more == 0) return false;
  const auto* block = reinterpret_cast<const profile::ChildBlock*>(thread.nodes + parent.more);
#pragma GCC unroll 7
  for (const profile::ChildSlot& slot : block->child) {
    if (slot.key != IndexOf(method)) continue;
    *node = slot.node;
    return true;
  }
  return false;
}

}  // namespace jprof::engine::internal
