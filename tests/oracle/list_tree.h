// A slow, simple calling context tree: each context is the list of methods that leads to it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace jprof::oracle {

class ListTree {
 public:
  using Path = std::vector<uint32_t>;
  struct Counts {
    std::array<uint64_t, 2> entries = {};  // by previous event: 0 an entry, 1 an exit
    std::array<uint64_t, 2> exits = {};
    bool operator==(const Counts&) const = default;
  };

  void Enter(uint32_t method) {
    path_.push_back(method);
    ++contexts_[path_].entries[previous_];
    previous_ = 0;
  }
  void Leave() {
    ++contexts_[path_].exits[previous_];
    path_.pop_back();
    previous_ = 1;
  }
  size_t depth() const { return path_.size(); }
  uint32_t top() const { return path_.back(); }
  const std::map<Path, Counts>& contexts() const { return contexts_; }

 private:
  Path path_;
  int previous_ = 0;
  std::map<Path, Counts> contexts_;
};

}  // namespace jprof::oracle
