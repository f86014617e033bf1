// Remembers what the frames of a text stand for: a profile has millions of frames and thousands of
// different ones, and to take a name apart takes many times as long as to find it here.
#pragma once

#include <functional>
#include <string_view>
#include <unordered_map>

#include "profile/import/sample_tree.h"

namespace jprof::profile {

// What a frame is known by. The texts must exist as long as the object that has it.
struct FrameKey {
  std::string_view symbol, module;
  bool is_kernel = false;
  bool operator==(const FrameKey&) const = default;
};

class KnownFrames {
 public:
  // Returns what `make` has returned for the key, or calls it.
  template <typename Make>
  ForeignFrame Of(const FrameKey& key, const Make& make) {
    const auto known = frames_.find(key);
    if (known != frames_.end()) return known->second;
    // Texts that are all different are not kept: they would need more memory than the tree.
    if (frames_.size() >= kMostFrames) frames_.clear();
    return frames_.emplace(key, make()).first->second;
  }

 private:
  static constexpr size_t kMostFrames = 1 << 20;
  struct Hash {
    size_t operator()(const FrameKey& key) const {
      const std::hash<std::string_view> hash;
      return (hash(key.symbol) * 31 + hash(key.module)) * 2 + (key.is_kernel ? 1 : 0);
    }
  };
  std::unordered_map<FrameKey, ForeignFrame, Hash> frames_;
};

}  // namespace jprof::profile
