#include "heap/analysis/tree_cut.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace jprof::heap {
namespace {

// Nodes that become one row.
struct Item {
  uint64_t retained = 0;
  uint32_t parent = kNone;  // a row
  uint32_t level = 0;
  std::vector<uint32_t> nodes;
};

class TreeCutter {
 public:
  TreeCutter(const Heap& heap, const DominatorChildren& children, const CutLimits& limits)
      : heap_(heap), children_(children), limits_(limits) {
    const double live = static_cast<double>(heap.tree.size * Heap::kUnit);
    cut_.least = static_cast<uint64_t>(live * limits.share);
  }

  TreeCut Cut() {
    const uint32_t roots[] = {kRoot};
    QueueChildren(kNone, 0, roots);
    while (!queue_.empty() && cut_.rows.size() < limits_.rows) {
      const Item item = TakeLargest();
      const auto row = static_cast<uint32_t>(cut_.rows.size());
      cut_.rows.push_back(RowOf(item));
      QueueChildren(row, item.level + 1, item.nodes);
    }
    if (!queue_.empty()) cut_.least = std::max(cut_.least, queue_.front().retained);
    for (const Item& item : queue_) Leave(item.parent, item.nodes);
    for (const auto& [_, row] : left_) cut_.rows.push_back(row);
    return std::move(cut_);
  }

 private:
  Item TakeLargest() {
    std::ranges::pop_heap(queue_, {}, &Item::retained);
    Item item = std::move(queue_.back());
    queue_.pop_back();
    return item;
  }
  void Queue(Item item) {
    queue_.push_back(std::move(item));
    std::ranges::push_heap(queue_, {}, &Item::retained);
  }

  TreeRow RowOf(const Item& item) const {
    TreeRow row = {.kind = item.nodes.size() > 1 ? TreeRow::Kind::kObjects : TreeRow::Kind::kObject,
                   .parent = item.parent,
                   .node = item.nodes.front(),
                   .joined = item.nodes.size(),
                   .objects = item.nodes.size()};
    for (const uint32_t node : item.nodes) row.bytes += heap_.SizeOf(node);
    return row;
  }

  // Queues what the nodes of a row dominate immediately: large objects, and small ones by class.
  void QueueChildren(uint32_t row, uint32_t level, std::span<const uint32_t> nodes) {
    std::map<uint32_t, Item> by_class;  // classes themselves are one of kNone
    for (const uint32_t parent : nodes) {
      for (const uint32_t node : children_.Of(parent)) {
        const uint64_t retained = heap_.RetainedBy(node);
        if (retained >= cut_.least && level < limits_.levels) {
          Queue({retained, row, level, {node}});
          continue;
        }
        Item& item =
            by_class.try_emplace(heap_.ClassOf(node), Item{0, row, level, {}}).first->second;
        item.retained += retained;
        item.nodes.push_back(node);
      }
    }
    for (auto& [_, item] : by_class) {
      const bool has_row = item.retained >= cut_.least && level < limits_.levels;
      has_row ? Queue(std::move(item)) : Leave(row, item.nodes);
    }
  }

  // Adds nodes, with all that they dominate, to what is left below a row.
  void Leave(uint32_t parent, std::span<const uint32_t> nodes) {
    TreeRow& left =
        left_.try_emplace(parent, TreeRow{TreeRow::Kind::kOthers, parent}).first->second;
    left.joined += nodes.size();
    for (const uint32_t node : nodes) {
      left.bytes += heap_.RetainedBy(node);
      left.objects += CountBelow(node);
    }
  }

  // Returns the number of objects that a node dominates, itself included.
  uint64_t CountBelow(uint32_t node) {
    uint64_t count = 0;
    for (stack_ = {node}; !stack_.empty(); ++count) {
      const std::span<const uint32_t> below = children_.Of(stack_.back());
      stack_.pop_back();
      stack_.insert(stack_.end(), below.begin(), below.end());
    }
    return count;
  }

  const Heap& heap_;
  const DominatorChildren& children_;
  const CutLimits limits_;
  TreeCut cut_;
  std::vector<Item> queue_;           // a heap: the largest is first
  std::map<uint32_t, TreeRow> left_;  // by parent
  std::vector<uint32_t> stack_;
};

}  // namespace

TreeCut CutTree(const Heap& heap, const DominatorChildren& children, const CutLimits& limits) {
  return TreeCutter(heap, children, limits).Cut();
}

}  // namespace jprof::heap
