// Maps an address to the owner of the innermost range that contains it. Ranges may nest; they
// are split into pieces that do not overlap. The map is filled once (Add, then Build) and
// then searched.
#pragma once

#include <cstdint>
#include <vector>

namespace jprof::a2n {

class IntervalMap {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Adds a range. Of ranges with the same bounds, the one added later is the inner one. Empty
  // ranges are ignored.
  void Add(uint64_t start, uint64_t end, uint32_t owner);
  void Build();
  // Returns the owner, or kNone if there is none.
  uint32_t Find(uint64_t address) const;

 private:
  struct Range {
    uint64_t start, end;
    uint32_t owner;
  };
  struct Piece {
    uint64_t start;
    uint32_t owner;
  };
  void Cut(uint64_t start, uint32_t owner);
  void BuildCoarse();

  std::vector<Range> ranges_;  // until Build
  std::vector<Piece> pieces_;  // sorted; the last one has no owner
  // The first piece at or after each multiple of 1 << shift_, relative to the first piece.
  std::vector<uint32_t> coarse_;
  unsigned shift_ = 0;
};

}  // namespace jprof::a2n
