// Compares the mapped files of a profile, which a program may be writing, with what they had at the
// snapshot before, and encodes the differences (profile/series/series_format.h). Reads no file and
// no clock.
//
// - The program writes meanwhile: 8-byte words are read atomically, but the words of a node are not
//   read at once. What a snapshot misses is in the next one, and the last one misses nothing.
// - A node whose counts move to a superseded record is never recorded twice: a snapshot waits until
//   they have moved, and else leaves the record to the next one.
// - Pages of nodes that have not changed are found by a hash. The last snapshot compares all nodes.
// - Memory: 32 bytes for each node, and 8 for each metric beyond the first.
#pragma once

#include <zstd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/files/layout.h"
#include "profile/read/reader.h"
#include "profile/read/window.h"

namespace jprof::profile {

// The memory of a profile's files.
struct ProfileMemory {
  const char* control = nullptr;
  const Node* nodes = nullptr;
  const int64_t* extra = nullptr;  // null if there is one metric
  uint64_t control_bytes = 0;
  uint64_t node_count = 0;
  uint32_t extras = 0;  // metrics beyond the first
  // Returns the same as it is later, of a profile that grows meanwhile. May be empty.
  std::function<ProfileMemory()> later = {};
};

class SeriesEncoder {
 public:
  // `memory` limits the memory for comparing. Nodes beyond it are only in the last snapshot.
  explicit SeriesEncoder(uint64_t memory);
  ~SeriesEncoder();

  struct Snapshot {
    std::string content;   // of the packet
    uint32_t records = 0;  // nodes that changed
  };
  // Encodes what has changed. `interval_ns` and `cost_ns` are stored. `last`: the program does not
  // write any more, and no snapshot follows.
  Snapshot Take(const ProfileMemory& now, uint64_t interval_ns, uint64_t cost_ns, bool last);

 private:
  static constexpr uint32_t kPage = 64;     // nodes that are hashed together
  static constexpr uint32_t kPiece = 4096;  // nodes that are allocated together
  // What was recorded of a node.
  struct Kept {
    uint32_t entries[2] = {};
    uint32_t exits[2] = {};
    int64_t self = 0;
    uint32_t dispatches = 0;
    enum class State : uint32_t { kNew, kLive, kTaken, kPostponed } state = State::kNew;
  };
  struct Piece {
    Kept nodes[kPiece] = {};
    uint64_t hashes[kPiece / kPage] = {};
    std::unique_ptr<int64_t[]> extra;
  };
  struct Observed {
    Kept values;
    std::array<int64_t, kMaxMetrics> extra = {};
  };
  struct Takeover {
    uint32_t record = 0, node = 0;
  };

  // States which nodes are compared: with kRecords only superseded records.
  enum class Scan : uint8_t { kSnapshot, kRecords, kLast };
  void ComparePages(uint64_t first_node, Scan scan);
  void ComparePage(uint64_t page, Scan scan);
  bool CompareNode(uint32_t index, const Node& node, const int64_t* extra, Scan scan);
  void CompareControl();
  void TakeOverAll(bool last);
  void TakeOver(const Takeover& takeover, const Observed& then);
  bool IsComplete(const Takeover& takeover);
  Observed ObservedOf(uint32_t index);
  static bool Exceeds(const Kept& values, const Node& record);
  bool HasMoved(const Takeover& takeover, const Node& record) const;
  void Encode(const Kept& before, const int64_t* extra_before, const Kept& now,
              const int64_t* extra, bool wide);
  Kept KeptOf(const Node& node, Kept::State state) const;
  Node Load(uint32_t index) const;
  Piece* PieceOf(uint32_t index);
  int64_t* ExtraOf(Piece& piece, uint32_t index) const {
    return piece.extra.get() + size_t{index % kPiece} * now_.extras;
  }
  void LoadExtra(uint32_t index, int64_t* values) const;
  // Returns a - b, which may overflow.
  static int64_t Wrapping(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
  uint32_t Compress(const std::string& raw, std::string& out);

  const uint64_t memory_;
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> zstd_;
  ProfileMemory now_;
  std::array<Node, kPage> page_nodes_;
  std::array<int64_t, kPage* kMaxMetrics> page_extra_ = {};
  std::vector<std::unique_ptr<Piece>> pieces_;
  uint64_t allocated_ = 0;
  bool is_partial_ = false;
  std::vector<uint64_t> control_;
  std::vector<Takeover> takeovers_, done_;
  std::unordered_map<uint32_t, Observed> held_;  // nodes that have less than was recorded
  std::string nodes_out_, control_out_;
  uint32_t previous_ = 0, records_ = 0;
};

}  // namespace jprof::profile
