#include "a2n/interval_map.h"

#include <algorithm>

namespace jprof::a2n {

void IntervalMap::Add(uint64_t start, uint64_t end, uint32_t owner) {
  if (start < end) ranges_.push_back({start, end, owner});
}

void IntervalMap::Cut(uint64_t start, uint32_t owner) {
  if (!pieces_.empty() && pieces_.back().start == start) {
    pieces_.back().owner = owner;
  } else if (pieces_.empty() || pieces_.back().owner != owner) {
    pieces_.push_back({start, owner});
  }
}

// Makes the pieces by a sweep: a stack holds the ranges that contain the address, the innermost on
// top.
void IntervalMap::Build() {
  std::ranges::stable_sort(ranges_, [](const Range& a, const Range& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  std::vector<Range> open;
  const auto close_until = [&](uint64_t address) {
    while (!open.empty() && open.back().end <= address) {
      const uint64_t end = open.back().end;
      while (!open.empty() && open.back().end <= end) open.pop_back();
      Cut(end, open.empty() ? kNone : open.back().owner);
    }
  };
  for (const Range& range : ranges_) {
    close_until(range.start);
    Cut(range.start, range.owner);
    open.push_back(range);
  }
  close_until(~uint64_t{0});
  ranges_ = {};
  pieces_.shrink_to_fit();
  BuildCoarse();
}

// Makes about one piece per coarse step, so that a search begins close to its result.
void IntervalMap::BuildCoarse() {
  if (pieces_.empty()) return;
  const uint64_t first = pieces_.front().start, width = pieces_.back().start - first;
  while ((width >> shift_) > 2 * pieces_.size()) ++shift_;
  coarse_.resize((width >> shift_) + 2);
  size_t piece = 0;
  for (size_t step = 0; step < coarse_.size(); ++step) {
    while (piece < pieces_.size() && ((pieces_[piece].start - first) >> shift_) < step) ++piece;
    coarse_[step] = static_cast<uint32_t>(piece);
  }
}

uint32_t IntervalMap::Find(uint64_t address) const {
  if (pieces_.empty() || address < pieces_.front().start || address >= pieces_.back().start)
    return kNone;
  const size_t step = static_cast<size_t>((address - pieces_.front().start) >> shift_);
  const auto first = pieces_.begin() + coarse_[step], last = pieces_.begin() + coarse_[step + 1];
  const auto after = std::upper_bound(first, last, address,
                                      [](uint64_t a, const Piece& b) { return a < b.start; });
  return std::prev(after)->owner;
}

}  // namespace jprof::a2n
