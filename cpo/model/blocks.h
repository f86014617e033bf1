// Says which block of 2 MiB an address would be in if its placement were on large pages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpo/model/references.h"

namespace jprof::cpo {

constexpr uint64_t kNoBlock = ~uint64_t{0};

// The blocks of placements. Where the agent moves a group's placements, blocks are counted from
// the page of the placement's start and have numbers that no address has; placements that start in
// the same page have the same blocks, as memory that is used again does.
class Blocks {
 public:
  // Requires that the group of each placement is an index into `groups`.
  Blocks(std::span<const Group> groups, std::span<const Placement> placements);

  // Returns the number of the block, or kNoBlock if this part of the placement stays on small
  // pages. Requires an address inside of the placement.
  uint64_t Of(uint32_t placement, uint64_t address) const;

 private:
  struct Layout {
    uint64_t start;  // of the addresses that become large
    uint64_t size;
    uint64_t first_block;
  };
  std::vector<Layout> layouts_;  // by placement
};

}  // namespace jprof::cpo
