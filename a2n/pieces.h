// Ranges that may lie within one another, made into pieces that each belong to one owner, the
// innermost: an answer is one short search. Filled once (Add, then Build), then asked.
#pragma once

#include <cstdint>
#include <vector>

namespace jprof::a2n {

class Pieces {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Of ranges with the same bounds the one added later is the inner one. Empty ranges are ignored.
  void Add(uint64_t start, uint64_t end, uint32_t owner);
  void Build();
  uint32_t Find(uint64_t address) const;  // the owner, or kNone

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
  std::vector<Piece> pieces_;  // sorted; the last one belongs to nobody
  std::vector<uint32_t>
      coarse_;  // the first piece at or after each multiple of 1 << shift_ from the first
  unsigned shift_ = 0;
};

}  // namespace jprof::a2n
