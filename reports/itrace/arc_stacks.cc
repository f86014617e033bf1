// Prints the tree of an instruction trace as collapsed stacks.
#include "model/itrace/arc_sums.h"
#include "reports/itrace/arc.h"
#include "reports/tree/collapsed.h"

namespace jprof::reports {

void PrintArcStacks(const model::ArcRecording& arcs, const model::ArcTrace& trace, bool merged,
                    Output& out) {
  const model::ArcTrace tree = merged ? model::MergeThreads(trace) : model::ArcTrace();
  const model::ArcTrace& from = merged ? tree : trace;
  CollapsedStacks stacks(out);
  uint32_t level = 0;
  const auto enter = [&](model::NodeIndex index) {
    const model::ArcNode& node = from.nodes[index];
    const bool is_thread = node.parent == model::kNoNode;
    stacks.Add(level++,
               is_thread ? (merged ? "(all threads)"
                                   : model::ArcThreadText(arcs, from.threads[node.thread]))
                         : arcs.code->functions()[node.function].name,
               static_cast<double>(node.self));
    return true;
  };
  for (const model::ArcThread& thread : from.threads)
    model::VisitNodes(from.nodes, thread.root, enter, [&](model::NodeIndex) { --level; });
}

}  // namespace jprof::reports
