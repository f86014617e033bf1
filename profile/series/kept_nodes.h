// Keeps what a series has recorded of each node, to compare the nodes with it. Pages of nodes that
// have not changed are found by a hash.
//
// Memory is allocated for ranges of nodes that are used, and only what is written takes space: 32
// bytes for each node, and 8 for each metric beyond the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace jprof::profile {

// What was recorded of a node. Zeros: nothing.
struct KeptNode {
  uint64_t entries = 0, exits = 0;  // two counts of 32 bits, or one of 64
  int64_t self = 0;
  uint32_t dispatches = 0;
  enum class State : uint32_t { kNew, kLive, kTaken, kPostponed } state = State::kNew;

  // Returns whether the counts and values are the same.
  bool HasValuesOf(const KeptNode& other) const {
    return (entries == other.entries) & (exits == other.exits) & (self == other.self) &
           (dispatches == other.dispatches);
  }
};
static_assert(sizeof(KeptNode) == 32);

class KeptNodes {
 public:
  static constexpr uint32_t kPage = 64;  // nodes that are hashed together

  // What is kept of one node.
  struct Place {
    KeptNode* node = nullptr;  // null if there is no memory for it
    int64_t* extra = nullptr;  // its metrics beyond the first
    uint64_t* hash = nullptr;  // of its page; 0 if the page has to be compared
  };

  // `memory` limits the memory for all of it.
  explicit KeptNodes(uint64_t memory) : memory_(memory) {}

  // Returns what is kept of the node, and allocates memory for it. `extras`, the number of metrics
  // beyond the first, must be the same in each call.
  Place At(uint32_t node, uint32_t extras) {
    const size_t number = node / kPiece;
    if (number >= pieces_.size() || !pieces_[number]) {
      if (!Allocate(number, extras)) return {};
    }
    char* const piece = pieces_[number].get();
    const size_t in_piece = node % kPiece;
    return {.node = reinterpret_cast<KeptNode*>(piece) + in_piece,
            .extra = reinterpret_cast<int64_t*>(piece + kExtraOffset) + in_piece * extras,
            .hash = reinterpret_cast<uint64_t*>(piece + kHashOffset) + in_piece / kPage};
  }

 private:
  static constexpr uint32_t kPiece = 1 << 13;  // nodes that are allocated together
  static constexpr size_t kHashOffset = kPiece * sizeof(KeptNode);
  static constexpr size_t kExtraOffset = kHashOffset + kPiece / kPage * sizeof(uint64_t);
  struct Unmap {
    size_t bytes = 0;
    void operator()(char* memory) const;
  };

  bool Allocate(size_t number, uint32_t extras);

  const uint64_t memory_;
  uint64_t allocated_ = 0;
  std::vector<std::unique_ptr<char, Unmap>> pieces_;
};

}  // namespace jprof::profile
