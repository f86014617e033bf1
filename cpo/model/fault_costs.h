// Computes what page faults and memory cost on small and on large pages, from the addresses of the
// faults of a run on small pages. On large pages a block of 2 MiB faults once (and once more if it
// was first only read: the first time it gets the page of zeros that all share), and is zeroed as a
// whole. If a page faults that was written before, its memory was given back meanwhile, so that its
// block would fault again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpo/model/blocks.h"
#include "cpo/model/references.h"

namespace jprof::cpo {

// What a group cost, in faults and in bytes that the kernel zeroed.
struct FaultCost {
  uint64_t faults = 0;
  uint64_t zeroed_bytes = 0;
};

// What the large pages of groups take at most, at any one time.
struct MemoryCost {
  uint64_t huge_pages = 0;   // blocks of 2 MiB
  uint64_t bloat_bytes = 0;  // in these blocks, but never touched
};

class FaultCosts {
 public:
  // Reads the stream to its end: all faults of the run, in the order of time.
  FaultCosts(ReferenceStream& faults, std::span<const Group> groups,
             std::span<const Placement> placements, const Blocks& blocks);

  // Returns the cost of all groups and of what is in none, if exactly those groups are on large
  // pages for which `is_large`, which is indexed by group, is true.
  FaultCost Faults(const std::vector<bool>& is_large) const;
  MemoryCost Memory(const std::vector<bool>& is_large) const;

 private:
  class Reader;
  struct Change {
    uint64_t time_ns;
    uint32_t group;
    int32_t huge_pages;
    int64_t bloat_bytes;
  };

  std::vector<FaultCost> small_;  // by group; the last one is of what is in no group
  std::vector<FaultCost> large_;
  std::vector<Change> changes_;  // in the order of time, of blocks if they are large
};

}  // namespace jprof::cpo
