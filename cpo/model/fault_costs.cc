#include "cpo/model/fault_costs.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <utility>

#include "cpo/model/placement_index.h"

namespace jprof::cpo {
namespace {

constexpr size_t kPagesOfBlock = kLargePage / kSmallPage;

}  // namespace

class FaultCosts::Reader {
 public:
  Reader(FaultCosts& costs, std::span<const Placement> placements, const Blocks& blocks)
      : costs_(costs), placements_(placements), blocks_of_(blocks), cursor_(placements) {}

  void Read(const Reference& fault) {
    cursor_.MoveTo(fault.time_ns);
    const uint32_t placement = cursor_.Find(fault.address).placement;
    const size_t group =
        placement == kNoPlacement ? costs_.small_.size() - 1 : placements_[placement].group;
    Count(costs_.small_[group], fault.write ? kSmallPage : 0);
    const uint64_t number =
        placement == kNoPlacement ? kNoBlock : blocks_of_.Of(placement, fault.address);
    if (number == kNoBlock) {
      Count(costs_.large_[group], fault.write ? kSmallPage : 0);
    } else {
      Touch(placement, number, fault);
    }
  }

  // Gives the blocks back at the end of their placements.
  void Finish() {
    for (const auto& [key, block] : blocks_) {
      Change(placements_[key.first].to_ns, key.first, -1, -Signed(block.untouched_bytes));
    }
  }

 private:
  // A block as if it were on a large page.
  struct Block {
    std::bitset<kPagesOfBlock> read, written;
    bool zeroed = false;
    uint64_t untouched_bytes = 0;
  };

  static int64_t Signed(uint64_t bytes) { return static_cast<int64_t>(bytes); }
  static void Count(FaultCost& cost, uint64_t zeroed_bytes) {
    ++cost.faults;
    cost.zeroed_bytes += zeroed_bytes;
  }
  void Change(uint64_t time_ns, uint32_t placement, int32_t huge_pages, int64_t bloat_bytes) {
    costs_.changes_.push_back({time_ns, placements_[placement].group, huge_pages, bloat_bytes});
  }

  void Touch(uint32_t placement, uint64_t number, const Reference& fault) {
    const auto [found, fresh] = blocks_.try_emplace({placement, number});
    Block& block = found->second;
    // Counted from the placement's first page, so that the pages of a block have different numbers.
    const uint64_t start = placements_[placement].start >> kSmallShift;
    const size_t page = ((fault.address >> kSmallShift) - start) % kPagesOfBlock;
    const bool again = block.written[page];
    if (again) {
      Change(fault.time_ns, placement, -1, -Signed(block.untouched_bytes));
      block = {};
    }
    FaultCost& cost = costs_.large_[placements_[placement].group];
    const bool first = fresh || again;
    if (first) {
      block.untouched_bytes = kLargePage;
      Change(fault.time_ns, placement, 1, Signed(kLargePage));
    }
    if (first || (fault.write && !block.zeroed)) Count(cost, fault.write ? kLargePage : 0);
    block.zeroed |= fault.write;
    if (!block.read[page] && !block.written[page]) {
      block.untouched_bytes -= kSmallPage;
      Change(fault.time_ns, placement, 0, -Signed(kSmallPage));
    }
    (fault.write ? block.written : block.read)[page] = true;
  }

  FaultCosts& costs_;
  std::span<const Placement> placements_;
  const Blocks& blocks_of_;
  PlacementCursor cursor_;
  std::map<std::pair<uint32_t, uint64_t>, Block> blocks_;  // by placement and number
};

FaultCosts::FaultCosts(ReferenceStream& faults, std::span<const Group> groups,
                       std::span<const Placement> placements, const Blocks& blocks)
    : small_(groups.size() + 1), large_(groups.size() + 1) {
  Reader reader(*this, placements, blocks);
  Reference fault;
  while (faults.NextBurst()) {
    while (faults.Next(fault)) reader.Read(fault);
  }
  reader.Finish();
  // What ends gives its memory back before others take theirs.
  std::ranges::stable_sort(changes_, [](const struct Change& a, const struct Change& b) {
    return std::pair(a.time_ns, a.huge_pages >= 0) < std::pair(b.time_ns, b.huge_pages >= 0);
  });
}

FaultCost FaultCosts::Faults(const std::vector<bool>& is_large) const {
  FaultCost sum;
  for (size_t group = 0; group < small_.size(); ++group) {
    const bool large = group < is_large.size() && is_large[group];
    const FaultCost& cost = large ? large_[group] : small_[group];
    sum.faults += cost.faults;
    sum.zeroed_bytes += cost.zeroed_bytes;
  }
  return sum;
}

MemoryCost FaultCosts::Memory(const std::vector<bool>& is_large) const {
  int64_t pages = 0, bloat = 0, most_pages = 0, most_bloat = 0;
  for (const auto& change : changes_) {
    if (change.group >= is_large.size() || !is_large[change.group]) continue;
    pages += change.huge_pages;
    bloat += change.bloat_bytes;
    most_pages = std::max(most_pages, pages);
    // Between a block's change and that of its first page nothing happens.
    if (change.huge_pages <= 0) most_bloat = std::max(most_bloat, bloat);
  }
  return {static_cast<uint64_t>(most_pages), static_cast<uint64_t>(most_bloat)};
}

}  // namespace jprof::cpo
