// Selects the nodes of a tree that a report shows. Machine formats hide what the options ask for,
// and show the hidden children of a node as one row. Text for people also
//   - hides by default what does not fit a screen,
//   - folds callers into their only shown callee if little is lost: what the folded callers of one
//     row have of their own, with their hidden children, is below the limit together, and
//   - shows hidden children only if they reach the limit together.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/tree/node.h"
#include "reports/print/options.h"
#include "reports/print/screen.h"

namespace jprof::reports {

// Where text shows a node.
struct Place {
  uint32_t indent = 0;   // the number of shown callers
  uint32_t callers = 0;  // folded ones, between this and the next shown one
};

// Returns what is before the name of a node: its indentation, up to a limit, as the column LV has
// the level; and "+3 " for three folded callers.
std::string Before(Place place);
// Returns the name of a row that represents hidden ones: "(3 more rows)".
std::string RestName(size_t hidden, bool threads = false);

// `Nodes` is a vector of nodes that derive from model::Node and have a `level`.
template <typename Nodes>
class Outline {
 public:
  // States whether a node is never hidden or folded, whatever its weight, if the limit is
  // `percent` of the whole.
  using Keeps = std::function<bool(model::NodeIndex, double percent)>;

  // Requires that `nodes`, `roots` and `weight` outlive it. `weight` has the weight of each node
  // with all below it. It may be empty if the format is for programs and the options limit no
  // share.
  Outline(const Nodes& nodes, std::span<const model::NodeIndex> roots, const Options& options,
          std::span<const double> weight, Keeps keeps)
      : nodes_(nodes),
        roots_(roots),
        weight_(weight),
        keeps_(std::move(keeps)),
        depth_(options.all ? UINT32_MAX : options.depth),
        folds_(options.for_people() && !options.all) {
    if (!weight_.empty()) {
      for (const model::NodeIndex root : roots) whole_ += WeightOf(root);
    }
    Limit(options.percent());
    if (options.fits_screen()) FitScreen();
  }

  bool Hides(model::NodeIndex node) const {
    return nodes_[node].level > depth_ || (!large_.empty() && !large_[node]);
  }
  // Returns whether text does not show a root by itself; all such roots are one row.
  bool HidesRoot(model::NodeIndex root) const { return folds_ && roots_.size() > 1 && Hides(root); }
  // Returns the share of the whole below which subtrees are hidden, in percent; 0 if none are.
  double percent() const { return std::ranges::find(large_, false) == large_.end() ? 0 : percent_; }

  // Visits what is shown of `root` and below it, parents before their children: `show` gets each
  // node with its place, and then `rest` gets it with the place of its children if its hidden
  // children are shown as one row. Stops if one of the two returns false.
  template <typename Show, typename Rest>
  void Visit(model::NodeIndex root, const Show& show, const Rest& rest) const {
    std::vector<Level> levels(1);
    const uint32_t top = nodes_[root].level;
    model::VisitShown(
        nodes_, root, [this](model::NodeIndex node) { return Hides(node); },
        [&](model::NodeIndex node) {
          const size_t level = nodes_[node].level - top;
          levels.resize(std::max(levels.size(), level + 1));
          levels[level] = Entered(node, level == 0 ? Level{} : levels[level - 1]);
          return levels[level].folds || show(node, levels[level].place);
        },
        [&](model::NodeIndex node) {
          return !ShowsRest(node) || rest(node, levels[nodes_[node].level - top].below);
        });
  }

 private:
  // A node on the way from the root to the one that is visited.
  struct Level {
    Place place, below;  // of the node, and of its children
    bool folds = false;
    double first = 0;  // the weight of the first of the folded callers that the node ends
  };

  // A NaN, which a damaged table can cause, counts as 0.
  double WeightOf(size_t node) const { return std::isnan(weight_[node]) ? 0 : weight_[node]; }

  Level Entered(model::NodeIndex node, const Level& parent) const {
    Level level = {.place = parent.below};
    if (!folds_) {
      level.place.indent = level.below.indent = nodes_[node].level;
      ++level.below.indent;
      return level;
    }
    level.first = parent.folds ? parent.first : WeightOf(node);
    level.folds = Folds(node, level.first);
    level.below = level.folds ? Place{level.place.indent, level.place.callers + 1}
                              : Place{level.place.indent + 1, 0};
    return level;
  }

  void Limit(double percent) {
    percent_ = percent;
    threshold_ = whole_ * percent / 100;
    large_.clear();
    if (percent > 0) FindLarge();
  }

  // A node is large if its weight reaches the limit, if it is kept, or if a node below it is large.
  void FindLarge() {
    large_.resize(nodes_.size());
    for (size_t i = nodes_.size(); i-- > 0;) {
      const auto node = static_cast<model::NodeIndex>(i);
      large_[i] = large_[i] || IsHeavy(WeightOf(i)) || keeps_(node, percent_);
      if (large_[i] && nodes_[i].parent != model::kNoNode) large_[nodes_[i].parent] = true;
    }
  }
  bool IsHeavy(double weight) const { return !(weight < threshold_); }

  // `first` is the weight of the first of the callers that would be folded with this one.
  bool Folds(model::NodeIndex node, double first) const {
    if (!(threshold_ > 0) || nodes_[node].parent == model::kNoNode) return false;
    model::NodeIndex only = model::kNoNode;
    for (model::NodeIndex child = nodes_[node].first_child; child != model::kNoNode;
         child = nodes_[child].next) {
      if (Hides(child)) continue;
      if (only != model::kNoNode) return false;
      only = child;
    }
    return only != model::kNoNode && first - WeightOf(only) < threshold_ && !keeps_(node, percent_);
  }

  bool ShowsRest(model::NodeIndex node) const {
    if (!folds_) return true;
    double weight = 0;
    for (model::NodeIndex child = nodes_[node].first_child; child != model::kNoNode;
         child = nodes_[child].next) {
      if (Hides(child)) weight += WeightOf(child);
    }
    return !(threshold_ > 0 && weight < threshold_);
  }

  // Sets the limit to the smallest of these shares with which the rows fit a screen, or to the
  // largest if none is enough (docs/decisions/0039-text-shows-a-screen.md). Where there is nothing
  // to share, only the first levels are shown.
  void FitScreen() {
    if (!(whole_ > 0)) return FitDepth();
    Limit(SmallestShare([this](double percent) {
      Limit(percent);
      return RowsFit();
    }));
  }
  void FitDepth() {
    if (RowsFit()) return;
    for (depth_ = 0; RowsFit(); ++depth_) {
    }
    depth_ = depth_ > 0 ? depth_ - 1 : 0;
  }
  bool RowsFit() const {
    size_t rows = 0;
    const auto count = [&](model::NodeIndex, Place) { return ++rows <= kScreenRows; };
    bool others = false;
    for (const model::NodeIndex root : roots_) {
      others |= HidesRoot(root);
      if (!HidesRoot(root) && rows <= kScreenRows) Visit(root, count, count);
    }
    return rows + others <= kScreenRows;
  }

  const Nodes& nodes_;
  std::span<const model::NodeIndex> roots_;
  std::span<const double> weight_;
  Keeps keeps_;
  uint32_t depth_;
  bool folds_;
  double whole_ = 0, percent_ = 0, threshold_ = 0;
  std::vector<bool> large_;  // by node; empty if all are
};

}  // namespace jprof::reports
