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
      const uint32_t parent = tree.nodes[i].parent;
      if (parent != model::kNoNode) level_[i] = level_[parent] + 1;
    }
  }

  std::vector<std::vector<uint32_t>> Make() {
    Begin();
    for (const uint32_t root : tree_.roots) AddThread(ContextsOf(root));
    if (parts_.size() > 1 && parts_.back().empty()) parts_.pop_back();
    return std::move(parts_);
  }

 private:
  std::vector<uint32_t> ContextsOf(uint32_t root) const {
    std::vector<uint32_t> contexts;
    model::VisitNodes(
        tree_.nodes, root,
        [&](uint32_t node) {
          if (std::ranges::any_of(sums_, [&](size_t m) { return tree_.Value(node, m) != 0; }))
            contexts.push_back(node);
          return true;
        },
        [](uint32_t) {});
    return contexts;
  }

  void AddThread(const std::vector<uint32_t>& contexts) {
    Cost whole = cost_;
    ++stamp_;  // so that all frames count again
    for (const uint32_t node : contexts) AddCost(node, whole);
    if (!Fits(whole)) Begin();
    ++stamp_;
    for (const uint32_t node : contexts) Add(node);
  }

  void Add(uint32_t node) {
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

  void AddCost(uint32_t node, Cost& cost) {
    constexpr uint64_t kLabels = 40, kFrame = 3, kValue = 10, kFunction = 60;
    ++cost.samples;
    cost.bytes += kLabels + kFrame * level_[node] + kValue * sums_.size();
    for (uint32_t at = node; at != model::kNoNode; at = tree_.nodes[at].parent) {
      const uint32_t number = tree_.nodes[at].frame;
      if (std::exchange(seen_[number], stamp_) == stamp_) continue;
      const model::ExportFrame& frame = tree_.frames[number];
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
  std::vector<std::vector<uint32_t>> parts_;
};

}  // namespace

std::vector<std::vector<uint32_t>> PprofParts(const model::ContextTree& stacks,
                                              const PprofLimits& limits) {
  return PartMaker(stacks, limits).Make();
}

}  // namespace jprof::reports
