#include "cpo/model/placement_index.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace jprof::cpo {

PlacementCursor::PlacementCursor(std::span<const Placement> placements)
    : placements_(placements), outer_(placements.size(), kNoPlacement) {
  for (uint32_t number = 0; number < placements.size(); ++number) {
    const Placement& placement = placements[number];
    if (placement.size == 0 || placement.from_ns >= placement.to_ns) continue;
    events_.push_back({placement.from_ns, true, number});
    events_.push_back({placement.to_ns, false, number});
  }
  // What ends makes room for what begins at the same time; outer ones begin first.
  std::ranges::stable_sort(events_, [&](const Event& a, const Event& b) {
    return std::tuple(a.time_ns, a.begins, a.begins ? ~placements_[a.placement].size : 0) <
           std::tuple(b.time_ns, b.begins, b.begins ? ~placements_[b.placement].size : 0);
  });
  next_ns_ = events_.empty() ? ~uint64_t{0} : events_.front().time_ns;
}

PlacementCursor::Key PlacementCursor::KeyOf(uint32_t placement) const {
  return {placements_[placement].start, ~placements_[placement].size};
}

uint64_t PlacementCursor::EndOf(uint32_t placement) const {
  const Placement& found = placements_[placement];
  return found.start + std::min(found.size, std::numeric_limits<uint64_t>::max() - found.start);
}

void PlacementCursor::Advance(uint64_t time_ns) {
  if (time_ns < now_ns_) {
    alive_.clear();
    next_ = 0;
    ++version_;
  }
  for (; next_ < events_.size() && events_[next_].time_ns <= time_ns; ++next_) {
    ++version_;
    const Event& event = events_[next_];
    if (event.begins) {
      Begin(event.placement);
      continue;
    }
    if (IsAlive(event.placement)) alive_.erase(KeyOf(event.placement));
  }
  next_ns_ = next_ < events_.size() ? events_[next_].time_ns : ~uint64_t{0};
}

bool PlacementCursor::IsAlive(uint32_t placement) const {
  const auto found = alive_.find(KeyOf(placement));
  return found != alive_.end() && found->second == placement;
}

uint32_t PlacementCursor::OuterOf(uint32_t placement) const {
  uint32_t outer = outer_[placement];
  while (outer != kNoPlacement && !IsAlive(outer)) outer = outer_[outer];
  return outer;
}

void PlacementCursor::Begin(uint32_t placement) {
  uint32_t outer = Find(placements_[placement].start).placement;
  while (outer != kNoPlacement && EndOf(outer) < EndOf(placement)) outer = OuterOf(outer);
  outer_[placement] = outer;
  const auto at = alive_.insert_or_assign(KeyOf(placement), placement).first;
  // It may begin around others.
  for (auto inner = std::next(at); inner != alive_.end(); ++inner) {
    if (inner->first.first >= EndOf(placement)) break;
    if (OuterOf(inner->second) == outer) outer_[inner->second] = placement;
  }
}

Place PlacementCursor::Find(uint64_t address) const {
  const auto after = alive_.upper_bound({address, ~uint64_t{0}});
  Place place{kNoPlacement, 0, after == alive_.end() ? ~uint64_t{0} : after->first.first};
  if (after == alive_.begin()) return place;
  uint32_t candidate = std::prev(after)->second;
  place.from = placements_[candidate].start;
  for (; candidate != kNoPlacement; candidate = OuterOf(candidate)) {
    if (address < EndOf(candidate)) {
      place.placement = candidate;
      place.to = std::min(place.to, EndOf(candidate));
      return place;
    }
    place.from = std::max(place.from, EndOf(candidate));
  }
  return place;
}

}  // namespace jprof::cpo
