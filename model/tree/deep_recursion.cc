#include "model/tree/deep_recursion.h"

#include <fmt/format.h>

namespace jprof::model {

NodeIndex DeepRecursion::Add(NodeIndex parent, FrameIndex frame) {
  const uint32_t level = parent == kNoNode ? 0 : contexts_[parent].level + 1;
  const auto next = static_cast<NodeIndex>(contexts_.size());
  if (level > whole_) {
    const NodeIndex known = OnStack(parent, frame);
    const uint64_t key = uint64_t{parent} << 32 | IndexOf(frame);
    const NodeIndex at = known != kNoNode ? known : deep_.try_emplace(key, next).first->second;
    folded_ += at != next;
    if (at != next) return at;
  }
  contexts_.push_back({parent, frame, level});
  return next;
}

NodeIndex DeepRecursion::OnStack(NodeIndex parent, FrameIndex frame) const {
  for (NodeIndex at = parent; contexts_[at].level > whole_; at = contexts_[at].parent) {
    if (contexts_[at].frame == frame) return at;
  }
  return kNoNode;
}

std::string DeepRecursionText(uint64_t folded, uint32_t whole) {
  if (folded == 0) return "";
  return fmt::format(
      "recursion below {} frames is folded: the values of {} contexts are in those of the same "
      "methods above them",
      whole, folded);
}

}  // namespace jprof::model
