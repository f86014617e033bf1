// Prints the tree of an instruction trace as collapsed stacks.
#include "reports/itrace/arc.h"
#include "reports/itrace/arc_visit.h"
#include "reports/tree/collapsed.h"

namespace jprof::reports {

void PrintArcStacks(const ArcRecording& arcs, const ArcTrace& trace, bool merged, Output& out) {
  const ArcTrace tree = merged ? MergeThreads(trace) : ArcTrace();
  const ArcTrace& from = merged ? tree : trace;
  CollapsedStacks stacks(out);
  const auto add = [&](uint32_t index, uint32_t level) {
    const ArcNode& node = from.nodes[index];
    const bool is_thread = node.parent == kNoArcNode;
    stacks.Add(level,
               is_thread
                   ? (merged ? "(all threads)" : ArcThreadText(arcs, from.threads[node.thread]))
                   : arcs.code->functions()[node.function].name,
               static_cast<double>(node.self));
  };
  VisitArcNodes(from, add, [](uint32_t) {});
}

}  // namespace jprof::reports
