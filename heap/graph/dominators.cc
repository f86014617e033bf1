#include "heap/graph/dominators.h"

#include <algorithm>

#include "heap/graph/bit_stream.h"

namespace jprof::heap {
namespace {

// The steps of the algorithm, in their order. Nodes have the numbers of a depth-first search, from
// 1 on; 0 is a node above all roots. Each step frees what the later ones do not need.
class Finder {
 public:
  Finder(References& references, const std::vector<uint32_t>& roots, const DominatorInput& input)
      : references_(references), roots_(roots), input_(input), nodes_(references.nodes()) {}

  Result<DominatorTree> Find(bool keep) {
    Begin("numbering the objects");
    Number();
    Begin("collecting their referrers");
    if (!CountPredecessors()) return Fail("the dump has more than 4 billion references");
    CollectPredecessors();
    if (!keep) references_ = References();
    Begin("finding dominators");
    FindSemidominators();
    FindImmediate();
    Begin("adding up retained sizes");
    return Tree();
  }

 private:
  void Begin(const char* step) const {
    if (input_.progress) input_.progress(step);
  }

  void Visit(uint32_t node, uint32_t parent) {
    number_[node] = ++count_;
    parent_[count_] = parent;
    stack_[depth_++] = references_.Begin(node);
    nesting_.Push(true);
  }

  // Visits the next node that the top of the stack refers to, its class last, or removes the top.
  void Step() {
    References::Cursor& top = stack_[depth_ - 1];
    uint32_t target;
    while ((target = references_.Next(top)) != References::kEnd) {
      if (number_[target] == 0) return Visit(target, number_[top.node()]);
    }
    target = input_.class_of(top.node());
    if (number_[target] == 0) return Visit(target, number_[top.node()]);
    --depth_;
    nesting_.Push(false);
  }

  void Number() {
    number_ = LazyArray<uint32_t>(nodes_);
    parent_ = LazyArray<uint32_t>(size_t{nodes_} + 1);
    stack_ = LazyArray<References::Cursor>(nodes_);
    nesting_ = BitStream(2 * uint64_t{nodes_});
    for (const uint32_t root : roots_) {
      if (number_[root] == 0) Visit(root, 0);
      while (depth_ > 0) Step();
    }
    stack_ = {};
    is_root_ = std::vector<bool>(count_ + 1);
    for (const uint32_t root : roots_) is_root_[number_[root]] = true;
  }

  // Calls visit(target, number of the source) for each reference, that to the class last.
  template <typename Visit>
  void ForEachReference(Visit visit) const {
    ForEachReached([&](uint32_t node, uint32_t source) {
      references_.ForEach(node, [&](uint32_t target) { visit(target, source); });
      visit(input_.class_of(node), source);
    });
  }

  // Counts the references that can matter, and notes which these are. The dominator of a root is
  // known, and references that the search followed are in parent_.
  bool CountPredecessors() {
    starts_ = LazyArray<uint32_t>(size_t{count_} + 2);
    matters_ = BitStream(references_.bytes() + count_);  // a reference takes at least a byte
    uint64_t all = 0;
    ForEachReference([&](uint32_t to, uint32_t source) {
      const uint32_t target = number_[to];
      const bool matters = parent_[target] != source && target != source && !is_root_[target];
      matters_.Push(matters);
      if (!matters) return;
      ++starts_[target + 1];
      ++all;
    });
    if (all > UINT32_MAX) return false;
    sources_ = LazyArray<uint32_t>(all);
    degrees_ = BitStream(all + count_);
    for (uint32_t w = 1; w <= count_; ++w) {
      degrees_.Push(false);
      for (uint32_t degree = starts_[w + 1]; degree > 0; --degree) degrees_.Push(true);
      starts_[w + 1] += starts_[w];
    }
    return true;
  }

  void CollectPredecessors() {
    uint64_t reference = 0;
    ForEachReference([&](uint32_t to, uint32_t source) {
      if (matters_[reference++]) sources_[starts_[number_[to]]++] = source;
    });
    starts_ = {};
    matters_ = {};
  }

  // Returns the least semidominator on the path from `v` up to the first node that is not yet
  // linked, which is `limit` or an ancestor. Shortens the path.
  uint32_t Least(uint32_t v, uint32_t limit) {
    path_.clear();
    for (; parent_[v] > limit; v = parent_[v]) path_.push_back(v);
    uint32_t least = label_[v];
    const uint32_t above = parent_[v];
    for (; !path_.empty(); path_.pop_back()) {
      const uint32_t u = path_.back();
      parent_[u] = above;
      least = label_[u] = std::min(label_[u], least);
    }
    return least;
  }

  void FindSemidominators() {
    label_ = LazyArray<uint32_t>(size_t{count_} + 1);
    semi_ = LazyArray<uint32_t>(size_t{count_} + 1);
    uint64_t bit = degrees_.size(), source = sources_.size();
    for (uint32_t w = count_; w > 0; --w) {
      uint32_t least = is_root_[w] ? 0 : parent_[w];
      while (degrees_[--bit]) {
        const uint32_t v = sources_[--source];
        least = std::min(least, v < w ? v : Least(v, w));
      }
      semi_[w] = label_[w] = least;
    }
    label_ = {};
    parent_ = {};
    sources_ = {};
    degrees_ = {};
  }

  // Replaces each semidominator by the immediate dominator, which is the nearest ancestor of the
  // node in the tree of dominators that is not below the semidominator.
  void FindImmediate() {
    LazyArray<uint32_t> above(size_t{count_} + 1);
    uint32_t w = 0, depth = 0;
    for (uint64_t i = 0; i < nesting_.size(); ++i) {
      if (!nesting_[i]) {
        --depth;
        continue;
      }
      ++w;
      uint32_t dominator = above[depth];
      while (dominator > semi_[w]) dominator = semi_[dominator];
      semi_[w] = dominator;
      above[++depth] = w;
    }
    nesting_ = {};
  }

  // Adds up sizes from the last node on, whose dominators come before it, and numbers the result
  // as the graph.
  DominatorTree Tree() {
    DominatorTree tree = {.reachable = count_};
    ForEachReached([&](uint32_t node, uint32_t) { tree.size += input_.size(node); });
    SizeArray sums(size_t{count_} + 1, tree.size);
    ForEachReached([&](uint32_t node, uint32_t w) { sums.Add(w, input_.size(node)); });
    for (uint32_t w = count_; w > 0; --w) sums.Add(semi_[w], sums[w]);
    tree.dominator = Dominators();
    semi_ = {};
    tree.retained = SizeArray(nodes_, tree.size);
    ForEachReached([&](uint32_t node, uint32_t w) { tree.retained.Add(node, sums[w]); });
    return tree;
  }

  LazyArray<uint32_t> Dominators() const {
    LazyArray<uint32_t> node_of(size_t{count_} + 1);
    ForEachReached([&](uint32_t node, uint32_t w) { node_of[w] = node; });
    node_of[0] = kRoot;
    LazyArray<uint32_t> dominator(nodes_);
    std::ranges::fill(dominator, kUnreachable);
    ForEachReached([&](uint32_t node, uint32_t w) { dominator[node] = node_of[semi_[w]]; });
    return dominator;
  }

  template <typename Visit>
  void ForEachReached(Visit visit) const {
    for (uint32_t node = 0; node < nodes_; ++node)
      if (number_[node] != 0) visit(node, number_[node]);
  }

  References& references_;
  const std::vector<uint32_t>& roots_;
  const DominatorInput& input_;
  const uint32_t nodes_;
  uint32_t count_ = 0;  // nodes that can be reached
  LazyArray<uint32_t> number_;
  LazyArray<uint32_t> parent_;  // in the search; then shortened paths
  LazyArray<References::Cursor> stack_;
  uint32_t depth_ = 0;
  BitStream nesting_;  // of the search: a bit at each beginning and end of a node
  std::vector<bool> is_root_;
  BitStream matters_;  // for each reference, in the order of the graph
  LazyArray<uint32_t> starts_;
  LazyArray<uint32_t> sources_;  // of references, by target
  BitStream degrees_;            // for each target a 0, and a 1 for each of its sources
  LazyArray<uint32_t> label_;    // the least semidominator on the shortened path
  LazyArray<uint32_t> semi_;     // the semidominator; then the immediate dominator
  std::vector<uint32_t> path_;
};

}  // namespace

Result<DominatorTree> FindDominators(References& references, const std::vector<uint32_t>& roots,
                                     const DominatorInput& input, bool keep) {
  return Finder(references, roots, input).Find(keep);
}

DominatorChildren::DominatorChildren(const DominatorTree& tree) {
  const auto nodes = static_cast<uint32_t>(tree.dominator.size());
  const auto place = [&](uint32_t node) {
    const uint32_t dominator = tree.dominator[node];
    return dominator == kRoot ? nodes : dominator;
  };
  starts_ = LazyArray<uint32_t>(size_t{nodes} + 2);
  children_ = LazyArray<uint32_t>(tree.reachable);
  for (uint32_t node = 0; node < nodes; ++node)
    if (tree.dominator[node] != kUnreachable) ++starts_[place(node)];
  // starts_[i] becomes the end of i, and then, filled from the end, its start.
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  for (uint32_t node = nodes; node-- > 0;)
    if (tree.dominator[node] != kUnreachable) children_[--starts_[place(node)]] = node;
}

}  // namespace jprof::heap
