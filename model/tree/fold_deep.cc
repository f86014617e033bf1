// Folds deep recursion in trees for exports. A folded tree has no values by line.
#include <algorithm>

#include "model/tree/context_builder.h"
#include "model/tree/context_tree.h"
#include "model/tree/deep_recursion.h"

namespace jprof::model {
namespace {

// Returns the tree with deep recursion folded. `deep` receives every node.
ContextTree Folded(const ContextTree& tree, DeepRecursion& deep) {
  ContextTree to = {.run = tree.run,
                    .measures = tree.measures,
                    .preferred = tree.preferred,
                    .frames = tree.frames,
                    .modules = tree.modules,
                    .threads = tree.threads};
  ContextBuilder builder(to);
  const size_t measures = tree.measures.size();
  std::vector<NodeIndex> place(tree.nodes.size());
  for (size_t i = 0; i < place.size(); ++i) {
    const ContextNode& node = tree.nodes[i];
    const NodeIndex parent = node.parent == kNoNode ? kNoNode : place[node.parent];
    place[i] = deep.Add(parent, node.frame);
    if (place[i] == to.nodes.size()) builder.AddNode(parent, node.frame, node.thread, node.type);
    to.values.resize(to.nodes.size() * measures);
    for (size_t m = 0; m < measures; ++m) {
      int64_t& sum = to.values[place[i] * measures + m];
      sum = AddSaturating(sum, tree.Value(i, m));
    }
  }
  LinkNodes(to.nodes);
  to.roots = tree.roots;
  for (NodeIndex& root : to.roots) root = place[root];
  return to;
}

bool IsDeep(const ContextTree& tree, uint32_t whole) {
  const std::vector<uint32_t> levels = Levels(tree);
  return std::ranges::any_of(levels, [whole](uint32_t level) { return level > whole; });
}

}  // namespace

std::optional<ContextTree> FoldDeep(const ContextTree& tree, uint32_t whole) {
  if (!IsDeep(tree, whole)) return std::nullopt;
  DeepRecursion deep(whole);
  ContextTree folded = Folded(tree, deep);
  const std::string note = DeepRecursionText(deep.folded(), whole);
  if (!note.empty()) folded.run.notes.push_back(note);
  const bool has_lines = !tree.lines.empty() || std::ranges::any_of(tree.nodes, &ContextNode::line);
  if (has_lines) folded.run.notes.push_back("source lines are left out, as stacks are folded");
  return folded;
}

}  // namespace jprof::model
