// Maps nodes to records of the tree that is being read (tree_builder.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profile/read/reader.h"

namespace jprof::profile {

// Maps a node's index to its record, for contexts only. A sparse file may claim 4 billion nodes, so
// memory is allocated only for ranges that contain nodes.
class Places {
 public:
  uint32_t operator[](uint32_t node) const {
    const size_t piece = node / kPiece;
    return piece < pieces_.size() && !pieces_[piece].empty() ? pieces_[piece][node % kPiece]
                                                             : kNoRecord;
  }
  void Set(uint32_t node, uint32_t record) {
    const size_t piece = node / kPiece;
    if (piece >= pieces_.size()) pieces_.resize(piece + 1);
    if (pieces_[piece].empty()) pieces_[piece].resize(kPiece, kNoRecord);
    pieces_[piece][node % kPiece] = record;
  }

 private:
  static constexpr size_t kPiece = 4096;
  std::vector<std::vector<uint32_t>> pieces_;
};

}  // namespace jprof::profile
