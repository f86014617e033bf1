#include "heap/graph/dominators.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace jprof::heap {
namespace {

// A graph with sizes, whose nodes may also refer to one node by their class.
struct SmallGraph {
  std::vector<std::vector<uint32_t>> targets;
  std::vector<uint32_t> classes;  // the node itself if it has none
  std::vector<uint32_t> roots;
  std::vector<uint64_t> sizes;
};

// Returns what can be reached without passing through `without`: the slow, obvious way.
std::set<uint32_t> Reached(const SmallGraph& graph, uint32_t without) {
  std::set<uint32_t> reached;
  std::vector<uint32_t> waiting = graph.roots;
  while (!waiting.empty()) {
    const uint32_t node = waiting.back();
    waiting.pop_back();
    if (node == without || !reached.insert(node).second) continue;
    waiting.insert(waiting.end(), graph.targets[node].begin(), graph.targets[node].end());
    waiting.push_back(graph.classes[node]);
  }
  return reached;
}

// The dominators of each node, by removal of every other one.
struct Oracle {
  explicit Oracle(const SmallGraph& graph) : all(Reached(graph, UINT32_MAX)) {
    for (const uint32_t node : all) {
      const std::set<uint32_t> left = Reached(graph, node);
      for (const uint32_t other : all)
        if (!left.contains(other)) dominated[node].insert(other);
    }
  }

  uint64_t RetainedBy(const SmallGraph& graph, uint32_t node) {
    uint64_t sum = 0;
    for (const uint32_t one : dominated[node]) sum += graph.sizes[one];
    return sum;
  }

  // The immediate one is dominated by all others.
  uint32_t ImmediateOf(uint32_t node) {
    uint32_t best = kRoot;
    for (const uint32_t one : all) {
      if (one == node || !dominated[one].contains(node)) continue;
      if (best == kRoot || dominated[best].contains(one)) best = one;
    }
    return best;
  }

  std::set<uint32_t> all;
  std::map<uint32_t, std::set<uint32_t>> dominated;
};

DominatorTree Find(const SmallGraph& graph) {
  const auto nodes = static_cast<uint32_t>(graph.targets.size());
  References references(nodes, 40 * uint64_t{nodes});
  for (std::vector<uint32_t> targets : graph.targets) references.Add(targets);
  const DominatorInput input = {.size = [&](uint32_t node) { return graph.sizes[node]; },
                                .class_of = [&](uint32_t node) { return graph.classes[node]; }};
  return *FindDominators(references, graph.roots, input, false);
}

void ExpectAsOracle(const SmallGraph& graph) {
  const DominatorTree tree = Find(graph);
  Oracle oracle(graph);
  EXPECT_EQ(tree.reachable, oracle.all.size());
  for (uint32_t node = 0; node < graph.targets.size(); ++node) {
    if (!oracle.all.contains(node)) {
      EXPECT_EQ(tree.dominator[node], kUnreachable);
      continue;
    }
    EXPECT_EQ(tree.dominator[node], oracle.ImmediateOf(node)) << node;
    EXPECT_EQ(tree.retained[node], oracle.RetainedBy(graph, node)) << node;
  }
}

SmallGraph RandomGraph(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  const uint32_t nodes = 1 + below(60), most = 1 + below(5);
  SmallGraph graph;
  for (uint32_t node = 0; node < nodes; ++node) {
    std::vector<uint32_t> targets;
    for (uint32_t left = below(most); left > 0; --left)
      targets.push_back(below(3) != 0 ? std::min(node + below(4), nodes - 1) : below(nodes));
    graph.targets.push_back(targets);
    graph.classes.push_back(below(4) == 0 ? below(std::min(nodes, 3u)) : node);
    graph.sizes.push_back(below(100));
    if (below(20) == 0) graph.roots.push_back(node);
  }
  if (graph.roots.empty()) graph.roots.push_back(below(nodes));
  return graph;
}

TEST(DominatorsTest, AreThoseOfTheOracleInRandomGraphs) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    ExpectAsOracle(RandomGraph(seed));
  }
}

TEST(DominatorsTest, OfAGraphWithoutRoots) {
  const DominatorTree tree = Find({{{1}, {0}}, {0, 1}, {}, {1, 1}});
  EXPECT_EQ(tree.reachable, 0u);
  EXPECT_EQ(tree.dominator[0], kUnreachable);
}

// A list as long as this would overflow the stack of a recursive search.
TEST(DominatorsTest, OfALongList) {
  constexpr uint32_t kNodes = 300'000;
  SmallGraph graph;
  for (uint32_t node = 0; node < kNodes; ++node) {
    graph.targets.push_back({std::min(node + 1, kNodes - 1), node / 2});
    graph.classes.push_back(node);
    graph.sizes.push_back(2);
  }
  graph.roots = {0};
  const DominatorTree tree = Find(graph);
  EXPECT_EQ(tree.retained[0], 2 * kNodes);
  EXPECT_EQ(tree.dominator[kNodes - 1], kNodes - 2);
}

TEST(DominatorsTest, ChildrenAreInTheOrderOfNodes) {
  const DominatorTree tree =
      Find({{{1, 2}, {3}, {3}, {}, {}}, {0, 1, 2, 3, 4}, {0}, {1, 1, 1, 1, 1}});
  const DominatorChildren children(tree);
  const auto of = [&](uint32_t node) {
    const std::span<const uint32_t> below = children.Of(node);
    return std::vector<uint32_t>(below.begin(), below.end());
  };
  EXPECT_EQ(of(kRoot), std::vector<uint32_t>{0});
  EXPECT_EQ(of(0), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(of(1), std::vector<uint32_t>{});
}

TEST(ReferencesTest, AreReadBackSortedWithoutDuplicates) {
  References references(9, 1000);
  std::vector<uint32_t> lists[] = {{8, 0, 3, 3}, {}, {2}, {1, 7}, {}, {}, {0}, {8}, {0, 7}};
  for (std::vector<uint32_t>& list : lists) references.Add(list);
  const auto of = [&](uint32_t node) {
    std::vector<uint32_t> targets;
    references.ForEach(node, [&](uint32_t target) { targets.push_back(target); });
    return targets;
  };
  EXPECT_EQ(of(0), (std::vector<uint32_t>{3, 8}));
  EXPECT_EQ(of(2), std::vector<uint32_t>{});
  EXPECT_EQ(of(3), (std::vector<uint32_t>{1, 7}));
  EXPECT_EQ(of(7), std::vector<uint32_t>{8});
  EXPECT_EQ(of(8), (std::vector<uint32_t>{0, 7}));
}

}  // namespace
}  // namespace jprof::heap
