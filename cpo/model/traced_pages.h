// Holds a stream of references as numbers of pages, for many passes over it. A reference to the
// same page as the one before it is only counted: in a cache whose order is least recently used, it
// hits the most recently used entry and changes nothing. Four bytes for each other reference.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/result.h"
#include "cpo/model/blocks.h"
#include "cpo/model/placement_index.h"
#include "cpo/model/references.h"

namespace jprof::cpo {

constexpr uint32_t kNoGroup = ~uint32_t{0};

// A page of 4 KiB that one group has references to.
struct TracedPage {
  uint64_t small = 0;         // the address divided by 4 KiB
  uint64_t block = kNoBlock;  // of 2 MiB, or kNoBlock if it cannot be on a large page
  uint32_t group = kNoGroup;  // kNoGroup: in no placement
};

struct TracedBurst {
  size_t end = 0;           // of its references in TracedPages::order
  uint64_t references = 0;  // all, repeated ones too
};

struct TracedPages {
  std::vector<TracedPage> pages;
  std::vector<uint32_t> order;  // indices of pages
  std::vector<TracedBurst> bursts;
};

// Reads the stream to its end. Bursts without references are left out. Fails if there are 2^32
// pages or more.
Result<TracedPages> TracePages(ReferenceStream& references, std::span<const Placement> placements,
                               const Blocks& blocks);

}  // namespace jprof::cpo
