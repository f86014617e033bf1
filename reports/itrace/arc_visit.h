// Visits the tree of an instruction trace depth first, without recursion: trees are deep.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/itrace/arc_model.h"

namespace jprof::reports {

inline constexpr uint32_t kNoArcNode = 0xffffffffu;

// Calls `enter` with the number and level of each node, threads at level 0, and `leave` with the
// number when all below it was visited. Siblings are in the order of their first calls.
template <typename Enter, typename Leave>
void VisitArcNodes(const ArcTrace& trace, const Enter& enter, const Leave& leave) {
  std::vector<uint32_t> first_child(trace.nodes.size(), kNoArcNode), next = first_child;
  for (size_t i = trace.nodes.size(); i-- > 0;) {
    const uint32_t parent = trace.nodes[i].parent;
    if (parent == kNoArcNode) continue;
    next[i] = first_child[parent];
    first_child[parent] = static_cast<uint32_t>(i);
  }
  for (const ArcThread& thread : trace.threads) {
    uint32_t at = thread.root, level = 0;
    while (at != kNoArcNode) {
      enter(at, level);
      if (first_child[at] != kNoArcNode) {
        at = first_child[at];
        ++level;
        continue;
      }
      leave(at);
      while (level > 0 && next[at] == kNoArcNode) {
        leave(at = trace.nodes[at].parent);
        --level;
      }
      at = level > 0 ? next[at] : kNoArcNode;
    }
  }
}

}  // namespace jprof::reports
