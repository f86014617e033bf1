#include "heap/analysis/largest.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace jprof::heap {
namespace {

// A node that may become an object of the result.
struct Candidate {
  uint64_t retained = 0;
  uint32_t node = kNone, depth = 0;
  uint32_t parent = kNone;  // the place of its dominator in the result

  // Of objects of the same size, the first one is taken first.
  std::pair<uint64_t, uint32_t> Rank() const { return {retained, ~node}; }
};

class Selection {
 public:
  Selection(const Heap& heap, const DominatorChildren& children, uint32_t levels, uint64_t most)
      : heap_(heap), children_(children), levels_(levels), most_(most) {}

  // Takes the largest candidate again and again.
  void Select() {
    Queue(kRoot, 0, kNone);
    while (!queue_.empty() && taken_.size() < most_) {
      std::ranges::pop_heap(queue_, {}, &Candidate::Rank);
      const Candidate one = queue_.back();
      queue_.pop_back();
      taken_.push_back(one);
      if (one.depth + 1 < levels_)
        Queue(one.node, one.depth + 1, static_cast<uint32_t>(taken_.size() - 1));
    }
  }

  std::vector<LargeObject> InOrderOfTree() const {
    const auto count = static_cast<uint32_t>(taken_.size());
    uint32_t first_root = kNone;
    std::vector<uint32_t> first_child(count, kNone), next(count, kNone);
    for (uint32_t i = count; i-- > 0;) {
      const uint32_t parent = taken_[i].parent;
      uint32_t& first = parent == kNone ? first_root : first_child[parent];
      next[i] = std::exchange(first, i);
    }
    std::vector<LargeObject> objects;
    std::vector<uint32_t> waiting = {first_root};
    while (!waiting.empty()) {
      const uint32_t at = waiting.back();
      waiting.pop_back();
      if (at == kNone) continue;
      objects.push_back({taken_[at].node, taken_[at].depth});
      waiting.push_back(next[at]);
      waiting.push_back(first_child[at]);
    }
    return objects;
  }

 private:
  // Queues the largest children of a node: as many as can still be taken.
  void Queue(uint32_t node, uint32_t depth, uint32_t parent) {
    std::vector<Candidate> largest;  // a heap: the smallest one is first
    for (const uint32_t child : children_.Of(node)) {
      largest.push_back({heap_.RetainedBy(child), child, depth, parent});
      std::ranges::push_heap(largest, std::greater(), &Candidate::Rank);
      if (largest.size() <= most_ - taken_.size()) continue;
      std::ranges::pop_heap(largest, std::greater(), &Candidate::Rank);
      largest.pop_back();
    }
    for (const Candidate& one : largest) {
      queue_.push_back(one);
      std::ranges::push_heap(queue_, {}, &Candidate::Rank);
    }
  }

  const Heap& heap_;
  const DominatorChildren& children_;
  const uint32_t levels_;
  const uint64_t most_;
  std::vector<Candidate> queue_;  // a heap: the largest one is first
  std::vector<Candidate> taken_;  // the largest first
};

// Returns the number of objects in the first `levels` below a node.
uint64_t CountBelow(const DominatorChildren& children, uint32_t node, uint32_t levels) {
  uint64_t count = children.Of(node).size();
  for (const uint32_t child : children.Of(node))
    if (levels > 1) count += CountBelow(children, child, levels - 1);
  return count;
}

}  // namespace

LargestObjects FindLargest(const Heap& heap, const DominatorChildren& children, uint32_t levels,
                           uint64_t most) {
  Selection selection(heap, children, levels, most == 0 ? UINT64_MAX : most);
  selection.Select();
  std::vector<LargeObject> objects = selection.InOrderOfTree();
  const uint64_t left_out = CountBelow(children, kRoot, levels) - objects.size();
  return {std::move(objects), left_out};
}

}  // namespace jprof::heap
