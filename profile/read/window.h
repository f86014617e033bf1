// A part of a recording: what was counted between two snapshots of its series (profile/series).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profile/files/layout.h"
#include "profile/files/meta.h"

namespace jprof::profile {

// What a node has gained. A node with one 64-bit count has that in entries[0].
struct NodeGain {
  int64_t entries[2] = {};
  int64_t exits[2] = {};
  int64_t self = 0;
  int64_t dispatches = 0;

  void Add(const NodeGain& other);
  bool operator==(const NodeGain&) const = default;
};

// Returns whether the node counts entries in one 64-bit number and has something else in `exits`.
constexpr bool HasWideCount(const Node& node) {
  return HasOneCount(node.ref) || TypeOf(node.ref) == FrameKind::kClass;
}
// Returns whether the node has no counts, whatever is in their memory.
constexpr bool HasNoCounts(const Node& node) {
  return TypeOf(node.ref) == FrameKind::kSite ||
         (MethodOf(node.ref) == kRootMethod && node.more != kSuperseded);
}

// Keeps gains by node. Memory is allocated only for ranges of nodes that have any.
class NodeGains {
 public:
  // `extras` is the number of metrics beyond the first.
  explicit NodeGains(size_t extras = 0) : extras_(extras) {}

  NodeGain& At(uint32_t node) { return PieceOf(node).gains[node % kPiece]; }
  int64_t* ExtraAt(uint32_t node) { return PieceOf(node).extra.get() + node % kPiece * extras_; }
  size_t extras() const { return extras_; }
  uint64_t bytes() const { return count_ * (sizeof(Piece) + kPiece * extras_ * sizeof(int64_t)); }

  // Returns whether the node has any.
  bool Has(uint32_t node) const;
  // Moves what `from` has to `to`.
  void Move(uint32_t from, uint32_t to);

  // Sets counts below 0 to 0 and returns them, which a node has if another one is to have them
  // later: the sum of what is kept and returned does not change.
  NodeGains TakeNegative();
  // Adds what `other` has. Requires the same number of metrics.
  void Add(const NodeGains& other);

  // Replaces the counts and values of the node by its gains. Returns false if a count is below 0 or
  // too large, and is therefore not exact.
  bool Apply(uint32_t index, Node& node, int64_t* extra) const;

 private:
  static constexpr size_t kPiece = 1024;
  struct Piece {
    std::array<NodeGain, kPiece> gains = {};
    std::unique_ptr<int64_t[]> extra;
  };
  Piece& PieceOf(uint32_t node);
  const Piece* Find(uint32_t node) const {
    return node / kPiece < pieces_.size() ? pieces_[node / kPiece].get() : nullptr;
  }

  size_t extras_;
  size_t count_ = 0;
  std::vector<std::unique_ptr<Piece>> pieces_;
};

struct Window {
  // Nanoseconds since the recording began, and the number of each snapshot; 0 is the beginning.
  uint64_t begin_ns = 0, end_ns = 0;
  size_t first = 0, last = 0;
  std::string asked;  // as the user gave it
  // The control file at both ends.
  ControlHeader begin, end;
  std::vector<ThreadRecord> begin_threads, end_threads;
  NodeGains nodes;

  // Returns "2.000 s to 5.001 s of the recording (snapshots 2 to 5; asked for: 2s..5s)".
  std::string Text() const;
};

// Returns the record with what the thread did in the window: counts that only grow are differences.
// CPU times are unknown.
ThreadRecord RecordIn(const Window& window, size_t thread, ThreadRecord whole);

// Returns the header with the times and losses of the window.
ControlHeader HeaderIn(const Window& window, ControlHeader whole);

// Returns the options with what limited the recording in the window: `after` is the number of calls
// in it that were left out, and `begins_paused` whether it begins paused.
RecordingOptions OptionsIn(const Window& window, RecordingOptions whole);

struct CallTree;
// Removes the records that have no counts and values and no descendants with any.
void LeaveOutIdle(CallTree& tree);

}  // namespace jprof::profile
