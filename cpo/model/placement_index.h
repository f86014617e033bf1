// Finds the placement that an address was in at a time. Placements are disjoint or nested while
// they overlap in time: a block of malloc in the area of the heap. The innermost one is found.
// Which one of two that overlap otherwise is found is not specified.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "cpo/model/references.h"

namespace jprof::cpo {

constexpr uint32_t kNoPlacement = ~uint32_t{0};

// The number of a placement, or kNoPlacement; all of [from, to) is in it as long as the version of
// the cursor stays the same.
struct Place {
  uint32_t placement = kNoPlacement;
  uint64_t from = 0;
  uint64_t to = 0;
};

// Goes through the time of the placements, which it refers to and which must outlive it. Finding
// costs O(log n) for n placements alive, and nothing where the version has not changed and the
// address is in the last place; time that goes back costs a new start, O(n log n) for all n.
class PlacementCursor {
 public:
  explicit PlacementCursor(std::span<const Placement> placements);

  // Sets the time.
  void MoveTo(uint64_t time_ns) {
    if (time_ns >= next_ns_ || time_ns < now_ns_) Advance(time_ns);
    now_ns_ = time_ns;
  }
  Place Find(uint64_t address) const;
  // Changes whenever a placement begins or ends.
  uint64_t version() const { return version_; }

 private:
  // The order of starts, and of the larger one first where two start at the same address.
  using Key = std::pair<uint64_t, uint64_t>;
  struct Event {
    uint64_t time_ns;
    bool begins;
    uint32_t placement;
  };

  Key KeyOf(uint32_t placement) const;
  uint64_t EndOf(uint32_t placement) const;
  bool IsAlive(uint32_t placement) const;
  uint32_t OuterOf(uint32_t placement) const;  // the innermost living one around it
  void Advance(uint64_t time_ns);
  void Begin(uint32_t placement);

  std::span<const Placement> placements_;
  std::vector<Event> events_;  // in the order of time
  size_t next_ = 0;            // of events_
  uint64_t next_ns_ = 0;       // its time
  uint64_t now_ns_ = 0;
  uint64_t version_ = 0;
  std::map<Key, uint32_t> alive_;
  std::vector<uint32_t> outer_;  // by placement: the innermost around it, which may have ended
};

}  // namespace jprof::cpo
