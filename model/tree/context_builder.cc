#include "model/tree/context_builder.h"

#include "a2n/image.h"

namespace jprof::model {

FrameIndex ContextBuilder::AddFrame(ExportFrame frame) {
  tree_.frames.push_back(std::move(frame));
  return static_cast<FrameIndex>(tree_.frames.size() - 1);
}

uint32_t ContextBuilder::ModuleOf(const std::string& path, const std::string& build_id) {
  const auto [known, is_new] =
      modules_.try_emplace(path, static_cast<uint32_t>(tree_.modules.size()));
  if (!is_new) return known->second;
  const bool is_file = path.starts_with('/');
  tree_.modules.push_back(
      {profile::CleanText(path), build_id.empty() && is_file ? a2n::BuildIdOf(path) : build_id});
  return known->second;
}

void ContextBuilder::AddNode(NodeIndex parent, FrameIndex frame, profile::ThreadIndex thread,
                             char type) {
  if (parent == kNoNode) tree_.roots.push_back(static_cast<NodeIndex>(tree_.nodes.size()));
  ContextNode node;
  node.parent = parent;
  node.frame = frame;
  node.thread = thread;
  node.type = type;
  tree_.nodes.push_back(node);
}

}  // namespace jprof::model
