// Defines the records of the file `live`, which `jprof objects --live` writes.
#pragma once

#include <cstdint>

namespace jprof::profile {

// Objects of one node that existed at the snapshots from `first` to `last`. In a sampled profile it
// is one object that was sampled, else all objects of the node, with another record when they are
// more or fewer. A record of node 0 is a snapshot, and `bytes` is its time in ns since the start.
struct LiveRecord {
  uint32_t node = 0;
  uint32_t objects = 0;
  uint32_t first = 0, last = 0;
  uint64_t bytes = 0;
};
static_assert(sizeof(LiveRecord) == 24);

}  // namespace jprof::profile
