#include "model/itrace/arc_sums.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace jprof::model {
namespace {

class ArcTreeSums {
 public:
  ArcTreeSums(const ArcTrace& trace, size_t functions)
      : trace_(trace), on_path_(functions), inclusive_(trace.nodes.size()) {
    sums_.functions.resize(functions);
  }

  ArcSums Take() {
    AddUp();
    for (const ArcThread& thread : trace_.threads) {
      VisitNodes(
          trace_.nodes, thread.root, [this](NodeIndex node) { return Enter(node); },
          [this](NodeIndex node) { --on_path_[trace_.nodes[node].function]; });
    }
    for (const auto& [arc, calls] : trace_.calls) arcs_[arc].calls += calls;
    for (const auto& [arc, sum] : arcs_) {
      sums_.arcs.push_back({.caller = static_cast<uint32_t>(arc >> 32),
                            .callee = static_cast<uint32_t>(arc),
                            .calls = sum.calls,
                            .instructions = sum.instructions,
                            .outermost_calls = sum.calls - std::min(sum.calls, inner_[arc])});
    }
    std::ranges::sort(sums_.arcs, {}, [](const ArcSum& arc) {
      return std::tuple(~arc.instructions, ~arc.calls, arc.caller, arc.callee);
    });
    return std::move(sums_);
  }

 private:
  void AddUp() {
    for (size_t i = 0; i < inclusive_.size(); ++i) inclusive_[i] = trace_.nodes[i].self;
    AddUpNodes(trace_.nodes, inclusive_);
  }

  bool Enter(NodeIndex index) {
    const ArcNode& node = trace_.nodes[index];
    FunctionSums& sums = sums_.functions[node.function];
    sums.calls += node.calls;
    sums.self += node.self;
    sums.repeats += node.repeats;
    sums.system_calls += node.system_calls;
    const bool outermost = on_path_[node.function]++ == 0;
    if (outermost) sums.cumulative += inclusive_[index];
    if (outermost) sums.outermost_calls += node.calls;
    if (node.parent == kNoNode) return true;
    const uint64_t caller = trace_.nodes[node.parent].function;
    ArcSum& arc = arcs_[caller << 32 | node.function];
    if (outermost)
      arc.instructions += inclusive_[index];
    else
      inner_[caller << 32 | node.function] += node.calls;
    return true;
  }

  const ArcTrace& trace_;
  std::vector<uint32_t> on_path_;  // by function
  std::vector<uint64_t> inclusive_;
  std::unordered_map<uint64_t, ArcSum> arcs_;
  std::unordered_map<uint64_t, uint64_t> inner_;  // calls by arc, below the callee itself
  ArcSums sums_;
};

}  // namespace

ArcSums SumUp(const ArcTrace& trace, size_t functions) {
  return ArcTreeSums(trace, functions).Take();
}

ArcTrace MergeThreads(const ArcTrace& trace) {
  ArcTrace merged = trace;
  merged.nodes = {{}};
  merged.threads = {{.instructions = trace.instructions}};
  std::vector<NodeIndex> places(trace.nodes.size());  // 0 for the root
  ChildMap children;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const ArcNode& node = trace.nodes[i];
    if (node.parent != kNoNode) {
      const NodeIndex parent = places[node.parent];
      places[i] = children.Child(merged.nodes, parent, node.function);
      if (places[i] == merged.nodes.size()) {
        ArcNode& added = merged.nodes.emplace_back();
        added.parent = parent;
        added.function = node.function;
      }
    }
    ArcNode& sum = merged.nodes[places[i]];
    sum.calls += node.calls;
    sum.self += node.self;
    sum.repeats += node.repeats;
    sum.system_calls += node.system_calls;
  }
  LinkNodes(merged.nodes);
  return merged;
}

}  // namespace jprof::model
