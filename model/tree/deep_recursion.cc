#include "model/tree/deep_recursion.h"

#include <fmt/format.h>

namespace jprof::model {

uint32_t DeepRecursion::Add(uint32_t parent, uint32_t frame) {
  const uint32_t level = parent == kNone ? 0 : contexts_[parent].level + 1;
  const auto next = static_cast<uint32_t>(contexts_.size());
  if (level > whole_) {
    const uint32_t known = OnStack(parent, frame);
    const uint32_t at = known != kNone
                            ? known
                            : deep_.try_emplace(uint64_t{parent} << 32 | frame, next).first->second;
    folded_ += at != next;
    if (at != next) return at;
  }
  contexts_.push_back({parent, frame, level});
  return next;
}

uint32_t DeepRecursion::OnStack(uint32_t parent, uint32_t frame) const {
  for (uint32_t at = parent; contexts_[at].level > whole_; at = contexts_[at].parent) {
    if (contexts_[at].frame == frame) return at;
  }
  return kNone;
}

std::string DeepRecursionText(uint64_t folded, uint32_t whole) {
  if (folded == 0) return "";
  return fmt::format(
      "recursion below {} frames is folded: the values of {} contexts are in those of the same "
      "methods above them",
      whole, folded);
}

}  // namespace jprof::model
