// The file `series` of a profile: a log (profile/log/log_format.h) with a packet for each snapshot,
// which has what was counted since the one before. A packet's times are those of the two snapshots.
// The sum of all packets is what the profile's files have.
//
// The content of a packet is a SeriesBlock and two zstd frames. Numbers are LEB128; indexes are
// differences to the one before in the same list, which begin with 0.
//
//   frame 1: number of takeovers, then for each: the superseded record (index) and how much lower
//            the index of its node is; number of words, then for each 8-byte word of `control` that
//            changed: its index, the signed difference
//   frame 2: the changed nodes, in the order of their index: the index, a byte of GainBits, the
//            signed differences of the fields that it names; 0 as difference of the index ends the
//            list. Then for each takeover the same of the record, without the index, and of its
//            node.
//
// A takeover: a record begins to have what its node had counted (layout.h, kSuperseded). Of the sum
// over several packets the record gets what the node had gained until then, and the node begins
// with 0. Differences are what remains of the change after that.
#pragma once

#include <cstdint>

#include "profile/log/log_format.h"

namespace jprof::profile {

inline constexpr LogFormat kSeriesFormat = {.magic = "jprofser",
                                            .version = 1,
                                            .name = "a series of jprof",
                                            .again = "record the profile again",
                                            .live = true};

struct SeriesBlock {
  uint64_t interval_ns = 0;  // as the user asked for
  uint64_t cost_ns = 0;      // CPU time of the recorder for all snapshots before this one
  uint32_t control_bytes = 0, control_packed = 0;  // length of frame 1, expanded and as stored
  uint32_t nodes_bytes = 0, nodes_packed = 0;      // of frame 2
  uint32_t extras = 0;                             // metrics beyond the first
  // 1 if the memory for comparing did not suffice: what some nodes counted is in the last packet.
  uint32_t is_partial = 0;
};
static_assert(sizeof(SeriesBlock) == 40);

// The fields of a node that have changed.
enum GainBits : uint8_t {
  kEntriesGain = 1,       // entries[0], or the one 64-bit count
  kEntriesAfterExit = 2,  // entries[1]
  kExitsGain = 4,         // exits[0]
  kExitsAfterExit = 8,    // exits[1]
  kSelfGain = 16,
  kDispatchesGain = 32,
  kExtraGain = 64,  // all metrics beyond the first
};

}  // namespace jprof::profile
