// Folds recursion in formats that repeat the whole stack of every context, whose size would grow
// with the square of the depth: the first kWholeFrames frames of a stack are kept as they are, and
// of those below each method appears at most once. A deeper call of a method that is already among
// these is added to the call that is there.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/tree/node.h"

namespace jprof::model {

inline constexpr uint32_t kWholeFrames = 512;

class DeepRecursion {
 public:
  // `whole` is the last level that is kept as it is.
  explicit DeepRecursion(uint32_t whole = kWholeFrames) : whole_(whole) {}

  struct Context {
    NodeIndex parent = kNoNode;
    FrameIndex frame{};
    uint32_t level = 0;  // 0 for a thread
  };

  // Adds the context of `frame` below the context `parent`, which is kNoNode for a thread. Returns
  // its number in contexts(), or that of the known context that it is folded into.
  NodeIndex Add(NodeIndex parent, FrameIndex frame);

  const std::vector<Context>& contexts() const { return contexts_; }  // parents first
  uint64_t folded() const { return folded_; }                         // how many became a known one

 private:
  NodeIndex OnStack(NodeIndex parent, FrameIndex frame) const;

  uint32_t whole_;
  std::vector<Context> contexts_;
  std::unordered_map<uint64_t, NodeIndex> deep_;  // parent and frame -> context
  uint64_t folded_ = 0;
};

// Returns "recursion below 512 frames is folded: ...", or an empty text if no context is folded.
std::string DeepRecursionText(uint64_t folded, uint32_t whole = kWholeFrames);

}  // namespace jprof::model
