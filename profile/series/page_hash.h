// Reads words that a program may be writing, and hashes them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "profile/files/layout.h"

namespace jprof::profile {

inline uint64_t LoadWord(const void* word) {
  return __atomic_load_n(static_cast<const uint64_t*>(word), __ATOMIC_RELAXED);
}

// What is compared of a node: the words before its slots for children.
struct SeenNode {
  MethodRef ref{};
  uint32_t parent = 0;
  uint64_t entries = 0, exits = 0;  // two counts of 32 bits, or one of 64
  int64_t self = 0;
  uint32_t more = 0, dispatches = 0;
};

// Hashes a page of nodes: the first words of all nodes one after another, their second words, and
// so on. A processor works on these lanes at the same time.
class PageHash {
 public:
  static constexpr size_t kLanes = offsetof(Node, child) / sizeof(uint64_t);

  explicit PageHash(uint64_t count) : lanes_{count} {}

  // Adds what is compared of a node. Returns it.
  SeenNode AddNode(const Node* node) {
    const auto add = [&](size_t lane) {
      const uint64_t word = LoadWord(reinterpret_cast<const char*>(node) + lane * sizeof(uint64_t));
      Add(lane, word);
      return word;
    };
    const uint64_t first = add(0), entries = add(1), exits = add(2), self = add(3), last = add(4);
    return {.ref = MethodRef{static_cast<uint32_t>(first)},
            .parent = static_cast<uint32_t>(first >> 32),
            .entries = entries,
            .exits = exits,
            .self = static_cast<int64_t>(self),
            .more = static_cast<uint32_t>(last),
            .dispatches = static_cast<uint32_t>(last >> 32)};
  }
  // Adds values of metrics. Copies them.
  void AddExtra(const int64_t* from, size_t count, int64_t* to) {
    for (size_t m = 0; m < count; ++m) {
      const uint64_t word = LoadWord(from + m);
      to[m] = static_cast<int64_t>(word);
      Add(m % kLanes, word);
    }
  }

  // Returns the hash, which is not 0.
  uint64_t Value() const {
    uint64_t hash = 1;
    for (const uint64_t lane : lanes_) {
      hash = (hash ^ lane) * kFactor;
      hash ^= hash >> 32;
    }
    return hash | 1;
  }

 private:
  static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  void Add(size_t lane, uint64_t word) {
    lanes_[lane] = std::rotl((lanes_[lane] ^ word) * kFactor, 29);
  }

  uint64_t lanes_[kLanes];
};
static_assert(PageHash::kLanes == 5 && sizeof(SeenNode) == 5 * sizeof(uint64_t));

}  // namespace jprof::profile
