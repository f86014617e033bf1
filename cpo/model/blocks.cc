#include "cpo/model/blocks.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace jprof::cpo {
namespace {

constexpr uint64_t kFirstMoved = uint64_t{1} << 44;  // above each address in units of 2 MiB

uint64_t RoundDown(uint64_t value) { return value & ~(kLargePage - 1); }

// Returns how many of the `size` bytes of a moved placement become large.
uint64_t LargeBytes(uint64_t size, const Group& group) {
  const uint64_t tail = size - RoundDown(size);
  return tail != 0 && tail >= group.least_tail ? size : RoundDown(size);
}

}  // namespace

Blocks::Blocks(std::span<const Group> groups, std::span<const Placement> placements) {
  struct Moved {
    uint64_t first_block, blocks;
  };
  std::unordered_map<uint64_t, Moved> moved;  // by start
  uint64_t next_block = kFirstMoved;
  for (const Placement& placement : placements) {
    const Group& group = groups[placement.group];
    if (group.moves) {
      const uint64_t start = placement.start & ~(kSmallPage - 1);
      const uint64_t size = LargeBytes(placement.size + (placement.start - start), group);
      const uint64_t blocks = (size + kLargePage - 1) >> kLargeShift;
      Moved& range = moved[start];
      if (range.blocks < blocks) {
        range = {next_block, blocks};
        next_block += blocks;
      }
      layouts_.push_back({start, size, range.first_block});
      continue;
    }
    const uint64_t most = std::numeric_limits<uint64_t>::max() - placement.start;
    const uint64_t end = RoundDown(placement.start + std::min(placement.size, most));
    const uint64_t start = RoundDown(placement.start + std::min(kLargePage - 1, most));
    layouts_.push_back({start, end > start ? end - start : 0, start >> kLargeShift});
  }
}

uint64_t Blocks::Of(uint32_t placement, uint64_t address) const {
  const Layout& layout = layouts_[placement];
  if (address - layout.start >= layout.size) return kNoBlock;
  return layout.first_block + ((address - layout.start) >> kLargeShift);
}

}  // namespace jprof::cpo
