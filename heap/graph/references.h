// The references of each node of a graph, in a stream of bytes: what a heap takes most memory for.
// A reference is the distance to its target in LEB128, with a bit that ends the list.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/graph/lazy_array.h"

namespace jprof::heap {

class References {
 public:
  References() = default;
  // `bytes` is the most that the lists will take.
  References(uint32_t nodes, uint64_t bytes);

  // Adds the list of the next node. Sorts it, and leaves out duplicates and references to the node
  // itself. Lists must be added in the order of the nodes.
  void Add(std::vector<uint32_t>& targets);

  uint32_t nodes() const { return nodes_; }
  uint64_t bytes() const { return used_; }

  // A place in the list of a node.
  class Cursor {
   public:
    uint32_t node() const { return node_; }

   private:
    friend class References;
    uint32_t node_ = 0;
    uint32_t at_ = 0;  // after the stored start; the depth of a search may be that of the heap
  };
  static constexpr uint32_t kEnd = UINT32_MAX;

  Cursor Begin(uint32_t node) const {
    Cursor cursor;
    cursor.node_ = node;
    const uint64_t start = starts_[node / kStride];
    uint64_t at = start;
    for (uint32_t lists = node % kStride; lists > 0; --lists) {
      while ((LastByte(at) & 1) == 0) continue;
    }
    cursor.at_ = static_cast<uint32_t>(at - start);
    return cursor;
  }

  // Returns the next target, or kEnd.
  uint32_t Next(Cursor& cursor) const {
    if (cursor.at_ == kDone) return kEnd;
    const uint64_t start = starts_[cursor.node_ / kStride];
    uint64_t at = start + cursor.at_;
    const uint64_t value = Read(at);
    cursor.at_ = (value & 1) != 0 ? kDone : static_cast<uint32_t>(at - start);
    if (value == kEmpty) return kEnd;
    const uint64_t distance = value >> 1;
    const int64_t change =
        static_cast<int64_t>(distance >> 1) ^ -static_cast<int64_t>(distance & 1);
    return static_cast<uint32_t>(cursor.node_ + change);
  }

  template <typename Visit>
  void ForEach(uint32_t node, Visit visit) const {
    Cursor cursor = Begin(node);
    for (uint32_t target; (target = Next(cursor)) != kEnd;) visit(target);
  }

 private:
  static constexpr uint32_t kStride = 4;  // nodes for each stored start of a list
  static constexpr uint32_t kDone = UINT32_MAX;
  static constexpr uint64_t kEmpty = 1;  // the last reference, to the node itself

  uint64_t Read(uint64_t& at) const {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = bytes_[at++];
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }

  // Skips a reference and returns its lowest bits.
  uint8_t LastByte(uint64_t& at) const {
    const uint8_t first = bytes_[at];
    while (bytes_[at++] >= 0x80) continue;
    return first;
  }

  void Write(uint64_t value);

  uint32_t nodes_ = 0, added_ = 0;
  uint64_t used_ = 0;
  LazyArray<uint8_t> bytes_;
  LazyArray<uint64_t> starts_;
};

}  // namespace jprof::heap
