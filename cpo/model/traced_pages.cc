#include "cpo/model/traced_pages.h"

#include <array>

#include "common/flat_map.h"

namespace jprof::cpo {
namespace {

bool IsSame(const TracedPage& a, const TracedPage& b) {
  return a.small == b.small && a.block == b.block && a.group == b.group;
}

// Numbers pages. Most references are to pages of which the answer is still in `recent_`.
class Numberer {
 public:
  Numberer(std::span<const Placement> placements, const Blocks& blocks,
           std::vector<TracedPage>& pages)
      : placements_(placements), blocks_(blocks), cursor_(placements), pages_(pages) {}

  uint32_t NumberOf(const Reference& reference) {
    cursor_.MoveTo(reference.time_ns);
    const uint64_t small = reference.address >> kSmallShift;
    Recent& recent = recent_[small % recent_.size()];
    if (recent.small == small && recent.version == cursor_.version()) return recent.number;
    const Place place = cursor_.Find(reference.address);
    const uint32_t number = Number(PageOf(reference.address, place));
    const uint64_t start = small << kSmallShift;
    const bool whole = place.from <= start && place.to - start >= kSmallPage && place.to > start;
    if (whole) recent = {small, cursor_.version(), number};
    return number;
  }

 private:
  struct Recent {
    uint64_t small = ~uint64_t{0};
    uint64_t version = 0;
    uint32_t number = 0;
  };

  TracedPage PageOf(uint64_t address, const Place& place) const {
    const uint64_t small = address >> kSmallShift;
    if (place.placement == kNoPlacement) return {small};
    return {small, blocks_.Of(place.placement, address), placements_[place.placement].group};
  }
  uint32_t Number(const TracedPage& page) {
    const auto fresh = static_cast<uint32_t>(pages_.size());
    uint32_t number = first_.FindOrAdd(page.small, fresh);
    while (number != fresh && !IsSame(pages_[number], page)) {
      uint32_t& next = next_[number];
      if (next == FlatMap::kNone) next = fresh;
      number = next;
    }
    if (number == fresh) {
      pages_.push_back(page);
      next_.push_back(FlatMap::kNone);
    }
    return number;
  }

  std::span<const Placement> placements_;
  const Blocks& blocks_;
  PlacementCursor cursor_;
  std::vector<TracedPage>& pages_;
  std::array<Recent, 1024> recent_;
  FlatMap first_;               // the number of the first page at this address
  std::vector<uint32_t> next_;  // by number: the next one at its address, which another group had
};

}  // namespace

Result<TracedPages> TracePages(ReferenceStream& references, std::span<const Placement> placements,
                               const Blocks& blocks) {
  TracedPages traced;
  Numberer numberer(placements, blocks, traced.pages);
  while (references.NextBurst()) {
    TracedBurst burst;
    Reference reference;
    for (; references.Next(reference); ++burst.references) {
      const uint32_t number = numberer.NumberOf(reference);
      if (traced.order.empty() || traced.order.back() != number) traced.order.push_back(number);
    }
    if (traced.pages.size() >= kNoGroup) {
      return Fail("more than {} pages were referenced; trace fewer or shorter bursts", kNoGroup);
    }
    burst.end = traced.order.size();
    if (burst.references > 0) traced.bursts.push_back(burst);
  }
  return traced;
}

}  // namespace jprof::cpo
