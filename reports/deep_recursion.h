// Folds recursion in formats that repeat the whole stack of every context, whose size would grow
// with the square of the depth: the first kWholeFrames frames of a stack are kept as they are, and
// of those below each method stands at most once. A deeper call of a method that is already among
// these counts for the call that is there.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace jprof::reports {

inline constexpr uint32_t kWholeFrames = 512;

class DeepRecursion {
 public:
  // `whole`: the last level that is kept as it is.
  explicit DeepRecursion(uint32_t whole = kWholeFrames) : whole_(whole) {}

  struct Context {
    uint32_t parent = kNone;
    uint32_t frame = 0;
    uint32_t level = 0;  // 0: a thread
  };
  static constexpr uint32_t kNone = 0xffffffffu;

  // Adds the context of `frame` below the context `parent` (kNone: a thread). Returns its number in
  // contexts(), which is a known one's if it is folded into that.
  uint32_t Add(uint32_t parent, uint32_t frame);

  const std::vector<Context>& contexts() const { return contexts_; }  // parents first
  uint64_t folded() const { return folded_; }                         // that became a known one

 private:
  uint32_t OnStack(uint32_t parent, uint32_t frame) const;

  uint32_t whole_;
  std::vector<Context> contexts_;
  std::unordered_map<uint64_t, uint32_t> deep_;  // parent and frame -> context
  uint64_t folded_ = 0;
};

// "recursion below 512 frames is folded: ..."; empty if no context is.
std::string DeepRecursionText(uint64_t folded, uint32_t whole = kWholeFrames);

}  // namespace jprof::reports
