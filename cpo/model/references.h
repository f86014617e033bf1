// Declares what the model of pages reads: references to memory in bursts, and where the memory of
// each group was, and when. Addresses are virtual, in bytes; times are nanoseconds of
// CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace jprof::cpo {

constexpr int kSmallShift = 12;   // pages of 4 KiB
constexpr int kMiddleShift = 16;  // 64 KiB, which some kernels back with one folio
constexpr int kLargeShift = 21;   // 2 MiB
constexpr uint64_t kSmallPage = uint64_t{1} << kSmallShift;
constexpr uint64_t kLargePage = uint64_t{1} << kLargeShift;
constexpr uint64_t kForever = ~uint64_t{0};  // the end of what lives to the end of the run

struct Reference {
  uint64_t address = 0;
  uint64_t time_ns = 0;
  bool write = false;
};

// Passes references in bursts. What happened between two bursts was not observed. A stream begins
// before its first burst.
class ReferenceStream {
 public:
  virtual ~ReferenceStream() = default;
  // Moves to the next burst. Returns false if there is none.
  virtual bool NextBurst() = 0;
  // Sets `reference` to the next one of this burst. Returns false at its end.
  virtual bool Next(Reference& reference) = 0;
};

// A stream over bursts that are in memory.
class StoredReferences final : public ReferenceStream {
 public:
  explicit StoredReferences(std::vector<std::vector<Reference>> bursts)
      : bursts_(std::move(bursts)) {}

  bool NextBurst() override {
    next_ = 0;
    return burst_ < bursts_.size() && ++burst_ <= bursts_.size();
  }
  bool Next(Reference& reference) override {
    if (burst_ == 0 || next_ == bursts_[burst_ - 1].size()) return false;
    reference = bursts_[burst_ - 1][next_++];
    return true;
  }

 private:
  std::vector<std::vector<Reference>> bursts_;
  size_t burst_ = 0;  // the number of the present one, from 1
  size_t next_ = 0;
};

// Says that [start, start + size) belonged to `group` at the times [from_ns, to_ns). The numbers
// of groups index the table of groups. A placement may be inside of another one, as a large block
// in the area of malloc; its memory then is its own group's only, and stays on small pages if only
// the outer group is on large ones.
struct Placement {
  uint64_t start = 0;
  uint64_t size = 0;
  uint64_t from_ns = 0;
  uint64_t to_ns = kForever;
  uint32_t group = 0;
  bool operator==(const Placement&) const = default;
};

// What may be on large pages or not, as a whole.
struct Group {
  std::string key;
  bool eligible = true;  // false: always on small pages
  // True if the agent moves each placement to a boundary of 2 MiB. Otherwise large pages replace
  // only the blocks of 2 MiB that are wholly inside of a placement.
  bool moves = false;
  // What a moved placement has beyond its last whole block becomes large if it is at least this
  // long: 1 if the agent rounds sizes up, 2 MiB if it does not.
  uint64_t least_tail = kLargePage;
};

}  // namespace jprof::cpo
