// Compares the mapped files of a profile, which a program may be writing, with what they had at the
// snapshot before, and encodes the differences (profile/series/series_format.h). Reads no file and
// no clock.
//
// - The program writes meanwhile: 8-byte words are read atomically, but the words of a node are not
//   read at once. What a snapshot misses is in the next one, and the last one misses nothing.
// - A node whose counts move to a superseded record is never recorded twice: a snapshot waits until
//   they have moved, and else leaves the record to the next one.
// - Pages of nodes that have not changed are found by a hash. The last snapshot compares all nodes.
#pragma once

#include <zstd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profile/files/layout.h"
#include "profile/read/reader.h"
#include "profile/read/window.h"
#include "profile/series/kept_nodes.h"
#include "profile/series/packed_bytes.h"
#include "profile/series/page_hash.h"

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
  // Returns whether a snapshot has recorded that this superseded record has what its node counted
  // before. Returns true if there is no memory for comparing the record.
  bool HasTaken(uint32_t record);

 private:
  struct Observed {
    KeptNode values;
    std::array<int64_t, kMaxMetrics> extra = {};
  };
  struct Takeover {
    uint32_t record = 0, node = 0;
  };

  static KeptNode KeptOf(const SeenNode& node, KeptNode::State state) {
    const bool counts = !HasNoCounts({.ref = node.ref, .more = node.more});
    return {.entries = counts ? node.entries : 0,
            .exits = counts && !HasWideCount({.ref = node.ref}) ? node.exits : 0,
            .self = node.self,
            .dispatches = node.dispatches,
            .state = state};
  }
  // States which nodes are compared: with kRecords only superseded records.
  enum class Scan : uint8_t { kSnapshot, kRecords, kLast };
  void ComparePages(uint64_t first_node, Scan scan);
  void ComparePage(uint32_t first, Scan scan);
  uint64_t HashOf(uint32_t first, uint32_t count) const;
  bool CompareNode(uint32_t index, const SeenNode& node, const int64_t* extra, Scan scan,
                   const KeptNodes::Place& place);
  void CompareControl();
  void TakeOverAll(bool last);
  void TakeOver(const Takeover& takeover, const Observed& then);
  void WaitForMoves();
  bool IsComplete(const Takeover& takeover);
  Observed ObservedOf(uint32_t index);
  static bool Exceeds(const KeptNode& values, const SeenNode& record);
  bool HasMoved(const Takeover& takeover) const;
  char* Encode(char* out, const KeptNode& before, const int64_t* extra_before, const KeptNode& now,
               const int64_t* extra, bool wide);
  void AppendGain(const Observed& before, const Observed& now);
  SeenNode Load(uint32_t index) const { return PageHash(0).AddNode(now_.nodes + index); }
  KeptNodes::Place PlaceOf(uint32_t index) { return kept_.At(index, now_.extras); }
  const int64_t* ExtraRow(uint32_t index) const { return now_.extra + size_t{index} * now_.extras; }
  void LoadExtra(uint32_t index, int64_t* values) const;
  // Returns a - b, which may overflow.
  static int64_t Wrapping(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
  uint32_t Compress(std::string_view raw, std::string& out);

  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> zstd_;
  ProfileMemory now_;
  KeptNodes kept_;
  bool is_partial_ = false;
  std::vector<uint64_t> control_;
  std::vector<Takeover> takeovers_, done_;
  std::unordered_set<uint32_t> moving_;          // records whose counts have not moved yet
  std::unordered_map<uint32_t, Observed> held_;  // nodes that have less than was recorded
  PackedBytes nodes_out_, control_out_, frame_;
  uint32_t previous_ = 0, records_ = 0;
};

}  // namespace jprof::profile
