// Defines the shape that all trees of calling contexts share: a vector of nodes that derive from
// Node, parents before their children, with their links; and the walks over it. They use no
// recursion, because trees are deep.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/flat_map.h"

namespace jprof::model {

// Identifies a node by its place in its vector. It is a number, because loops over trees count with
// it. The indices that a node has into other tables are types of their own: none can be taken for
// another.
using NodeIndex = uint32_t;
inline constexpr NodeIndex kNoNode = 0xffffffffu;

// Identifies a frame by its place in its tree's table of frames.
enum class FrameIndex : uint32_t {};
inline constexpr FrameIndex kNoFrame{0xffffffffu};
constexpr uint32_t IndexOf(FrameIndex frame) { return static_cast<uint32_t>(frame); }

struct Node {
  NodeIndex parent = kNoNode;  // kNoNode for a root
  NodeIndex first_child = kNoNode;
  NodeIndex next = kNoNode;  // sibling
};

// Links children in the order of the nodes. Requires the parents to be set.
template <typename Nodes>
void LinkNodes(Nodes& nodes) {
  for (size_t i = nodes.size(); i-- > 0;) {  // backwards, so that the lists run forwards
    if (nodes[i].parent == kNoNode) continue;
    nodes[i].next = std::exchange(nodes[nodes[i].parent].first_child, static_cast<NodeIndex>(i));
  }
}

// Visits `root` and all below it, depth first. `enter` returns whether to visit what is below;
// `leave` follows each node that was entered, in any case.
template <typename Nodes, typename Enter, typename Leave>
void VisitNodes(const Nodes& nodes, NodeIndex root, const Enter& enter, const Leave& leave) {
  NodeIndex at = root;
  while (true) {
    const bool deeper = enter(at);
    if (deeper && nodes[at].first_child != kNoNode) {
      at = nodes[at].first_child;
      continue;
    }
    leave(at);
    while (at != root && nodes[at].next == kNoNode) leave(at = nodes[at].parent);
    if (at == root) return;
    at = nodes[at].next;
  }
}

// Visits the hidden children of `parent` and all below them.
template <typename Nodes, typename Hides, typename Visit>
void VisitHidden(const Nodes& nodes, NodeIndex parent, const Hides& hides, const Visit& visit) {
  const auto enter = [&](NodeIndex at) {
    visit(at);
    return true;
  };
  for (NodeIndex child = nodes[parent].first_child; child != kNoNode; child = nodes[child].next) {
    if (hides(child)) VisitNodes(nodes, child, enter, [](NodeIndex) {});
  }
}

// Visits `root` and all below it that are not hidden, parents before their children: `show` gets
// each, and then `fold` gets it if it has hidden children. Stops if one of the two returns false.
template <typename Nodes, typename Hides, typename Show, typename Fold>
void VisitShown(const Nodes& nodes, NodeIndex root, const Hides& hides, const Show& show,
                const Fold& fold) {
  bool go = true;
  VisitNodes(
      nodes, root,
      [&](NodeIndex at) {
        if (!go || (at != root && hides(at))) return false;
        go = show(at);
        NodeIndex child = nodes[at].first_child;
        while (child != kNoNode && !hides(child)) child = nodes[child].next;
        if (go && child != kNoNode) go = fold(at);
        return go;
      },
      [](NodeIndex) {});
}

// Adds the values of each node's children to its own: `values` then includes all below. `values`
// has one element per node.
template <typename Nodes, typename T>
void AddUpNodes(const Nodes& nodes, std::vector<T>& values) {
  for (size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].parent != kNoNode) values[nodes[i].parent] += values[i];
  }
}

// Returns the caller that each node's own value is attributed to: of a native function the nearest
// Java method if there is one, else the nearest node above that is not the same method. kNoNode
// where there is none.
template <typename Nodes, typename IsJava, typename IsSame>
std::vector<NodeIndex> AttributedCallers(const Nodes& nodes, const IsJava& is_java,
                                         const IsSame& is_same) {
  std::vector<NodeIndex> callers(nodes.size(), kNoNode), java(nodes.size(), kNoNode);
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    const NodeIndex parent = nodes[i].parent;
    if (parent == kNoNode) continue;
    const bool is_root = nodes[parent].parent == kNoNode;  // a thread, which is no method
    java[i] = !is_root && is_java(parent) ? parent : java[parent];
    const NodeIndex direct = is_same(i, parent) ? callers[parent] : parent;
    callers[i] = is_java(i) || java[i] == kNoNode ? direct : java[i];
  }
  return callers;
}

// Returns the indices by weight: greatest first, equal ones as they were. A NaN, which a damaged
// table can cause, counts as 0.
inline std::vector<NodeIndex> SortedByWeight(std::vector<NodeIndex> indices,
                                             const std::vector<double>& weight) {
  const auto of = [&](NodeIndex i) { return std::isnan(weight[i]) ? 0 : weight[i]; };
  std::stable_sort(indices.begin(), indices.end(),
                   [&](NodeIndex a, NodeIndex b) { return of(a) > of(b); });
  return indices;
}

// Links children anew, in the order that `sort` returns for a vector of siblings.
template <typename Nodes, typename Sort>
void SortSiblings(Nodes& nodes, const Sort& sort) {
  std::vector<NodeIndex> children;
  for (auto& parent : nodes) {
    children.clear();
    for (NodeIndex i = parent.first_child; i != kNoNode; i = nodes[i].next) children.push_back(i);
    if (children.size() < 2) continue;
    children = sort(std::move(children));
    parent.first_child = kNoNode;
    for (size_t i = children.size(); i-- > 0;)
      nodes[children[i]].next = std::exchange(parent.first_child, children[i]);
  }
}

// Finds the child of a node by a key, such as its method.
class ChildMap {
 public:
  // Returns the child, or the index of a new one, which must be appended before the next call.
  template <typename Nodes>
  NodeIndex Child(const Nodes& nodes, NodeIndex parent, uint32_t key) {
    uint32_t& child = map_[uint64_t{parent} << 32 | key];
    if (child == FlatMap::kNone) child = static_cast<NodeIndex>(nodes.size());
    return child;
  }
  // Makes the child of that key another node.
  void Set(NodeIndex parent, uint32_t key, NodeIndex child) {
    map_[uint64_t{parent} << 32 | key] = child;
  }

 private:
  FlatMap map_;
};

}  // namespace jprof::model
