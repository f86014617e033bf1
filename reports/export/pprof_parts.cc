#include "reports/export/pprof_parts.h"

#include <algorithm>
#include <utility>

namespace jprof::reports {
namespace {

struct Cost {
  uint64_t bytes = 0, samples = 0;
};

// Divides contexts into parts by an estimate of their size, which errs on the high side.
class PartMaker {
 public:
  PartMaker(const model::ContextTree& tree, const PprofLimits& limits)
      : tree_(tree), limits_(limits), sums_(tree.Sums()), seen_(tree.frames.size()) {
    level_.resize(tree.nodes.size());
    for (size_t i = 0; i < level_.size(); ++i) {
      const model::NodeIndex parent = tree.nodes[i].parent;
      if (parent != model::kNoNode) level_[i] = level_[parent] + 1;
    }
  }

  std::vector<std::vector<model::NodeIndex>> Make() {
    Begin();
    for (const model::NodeIndex root : tree_.roots) AddThread(ContextsOf(root));
    if (parts_.size() > 1 && parts_.back().empty()) parts_.pop_back();
    return std::move(parts_);
  }

 private:
  std::vector<model::NodeIndex> ContextsOf(model::NodeIndex root) const {
    std::vector<model::NodeIndex> contexts;
    model::VisitNodes(
        tree_.nodes, root,
        [&](model::NodeIndex node) {
          if (std::ranges::any_of(sums_, [&](size_t m) { return tree_.Value(node, m) != 0; }))
            contexts.push_back(node);
          return true;
        },
        [](model::NodeIndex) {});
    return contexts;
  }

  void AddThread(const std::vector<model::NodeIndex>& contexts) {
    Cost whole = cost_;
    ++stamp_;  // so that all frames count again
    for (const model::NodeIndex node : contexts) AddCost(node, whole);
    if (!Fits(whole)) Begin();
    ++stamp_;
    for (const model::NodeIndex node : contexts) Add(node);
  }

  void Add(model::NodeIndex node) {
    Cost with = cost_;
    AddCost(node, with);
    if (!Fits(with) && !parts_.back().empty()) {
      Begin();
      with = cost_;
      AddCost(node, with);
    }
    cost_ = with;
    parts_.back().push_back(node);
  }

  void Begin() {
    if (!parts_.empty() && parts_.back().empty()) return;
    parts_.emplace_back();
    cost_ = {.bytes = 4096};  // for the description of the run
    ++stamp_;
  }

  bool Fits(const Cost& cost) const {
    return cost.bytes <= limits_.bytes && cost.samples <= limits_.samples;
  }

  void AddCost(model::NodeIndex node, Cost& cost) {
    constexpr uint64_t kLabels = 40, kFrame = 3, kValue = 10, kFunction = 60;
    ++cost.samples;
    cost.bytes += kLabels + kFrame * level_[node] + kValue * sums_.size();
    for (model::NodeIndex at = node; at != model::kNoNode; at = tree_.nodes[at].parent) {
      if (std::exchange(seen_[IndexOf(tree_.nodes[at].frame)], stamp_) == stamp_) continue;
      const model::ExportFrame& frame = tree_.FrameOf(tree_.nodes[at]);
      cost.bytes += kFunction + frame.full.size() + frame.readable.size();
    }
  }

  const model::ContextTree& tree_;
  PprofLimits limits_;
  std::vector<size_t> sums_;
  std::vector<uint32_t> level_;
  std::vector<uint64_t> seen_;  // by frame: the stamp at which it was counted
  uint64_t stamp_ = 0;
  Cost cost_;
  std::vector<std::vector<model::NodeIndex>> parts_;
};

}  // namespace

std::vector<std::vector<model::NodeIndex>> PprofParts(const model::ContextTree& stacks,
                                                      const PprofLimits& limits) {
  return PartMaker(stacks, limits).Make();
}

}  // namespace jprof::reports
