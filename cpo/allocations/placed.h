// Which group every piece of memory belongs to while a log is read. All pieces are not empty and do
// not reach beyond the address space.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "cpo/allocations/log.h"

namespace jprof::cpo {

// Values of disjoint pieces of memory.
template <class Value>
class PieceMap {
 public:
  // Calls visit(first, last, value) for each piece, or part of one, in [first, last].
  template <class Visit>
  void ForEachIn(uint64_t first, uint64_t last, Visit visit) const {
    for (auto at = FirstIn(first); at != pieces_.end() && at->first <= last; ++at)
      visit(at->first < first ? first : at->first, at->second.last < last ? at->second.last : last,
            at->second.value);
  }

  // Removes [first, last], and keeps the parts of pieces that are outside of it.
  void Clear(uint64_t first, uint64_t last) {
    auto at = pieces_.lower_bound(first);
    if (at != pieces_.begin()) {
      const auto before = std::prev(at);
      const Piece piece = before->second;
      if (piece.last >= first) before->second.last = first - 1;
      if (piece.last > last) pieces_.emplace_hint(at, last + 1, piece);
    }
    while (at != pieces_.end() && at->first <= last) {
      const Piece piece = at->second;
      at = pieces_.erase(at);
      if (piece.last > last) pieces_.emplace_hint(at, last + 1, piece);
    }
  }
  void Set(uint64_t first, uint64_t last, Value value) {
    Clear(first, last);
    pieces_.emplace(first, Piece{last, value});
  }

 private:
  struct Piece {
    uint64_t last;  // address of its last byte
    Value value;
  };
  using Pieces = std::map<uint64_t, Piece>;  // by first address

  typename Pieces::const_iterator FirstIn(uint64_t first) const {
    auto at = pieces_.upper_bound(first);
    if (at != pieces_.begin() && std::prev(at)->second.last >= first) --at;
    return at;
  }

  Pieces pieces_;
};

class Placed {
 public:
  // Gives memory to a group, and takes it from whichever groups had parts of it.
  void Begin(uint64_t start, uint64_t size, uint64_t time, uint32_t group);
  // The same for the parts that no group has now: from `time` on, or since a group had them last.
  void Fill(uint64_t start, uint64_t size, uint64_t time, uint32_t group);
  void End(uint64_t start, uint64_t size, uint64_t time);
  // Returns all placements, with those that have not ended. The object must not be used afterwards.
  std::vector<Placement> Finish();

 private:
  struct Owner {
    uint64_t from;
    uint32_t group;
  };

  PieceMap<Owner> now_;
  PieceMap<uint64_t> free_since_;
  std::vector<Placement> past_;
};

}  // namespace jprof::cpo
