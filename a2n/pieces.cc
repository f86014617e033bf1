#include "a2n/pieces.h"

#include <algorithm>

namespace jprof::a2n {

void Pieces::Add(uint64_t start, uint64_t end, uint32_t owner) {
  if (start < end) ranges_.push_back({start, end, owner});
}

void Pieces::Cut(uint64_t start, uint32_t owner) {
  if (!starts_.empty() && starts_.back() == start) {
    owners_.back() = owner;
  } else if (starts_.empty() || owners_.back() != owner) {
    starts_.push_back(start);
    owners_.push_back(owner);
  }
}

// A sweep: the ranges that hold the address lie on a stack, the innermost on top.
void Pieces::Build() {
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
  starts_.shrink_to_fit();
  owners_.shrink_to_fit();
  BuildCoarse();
}

// About one piece to each coarse step: a search then begins where it nearly ends.
void Pieces::BuildCoarse() {
  if (starts_.empty()) return;
  const uint64_t width = starts_.back() - starts_.front();
  while ((width >> shift_) > 2 * starts_.size()) ++shift_;
  coarse_.resize((width >> shift_) + 2);
  size_t piece = 0;
  for (size_t step = 0; step < coarse_.size(); ++step) {
    while (piece < starts_.size() && ((starts_[piece] - starts_.front()) >> shift_) < step) ++piece;
    coarse_[step] = static_cast<uint32_t>(piece);
  }
}

uint32_t Pieces::Find(uint64_t address) const {
  if (starts_.empty() || address < starts_.front() || address >= starts_.back()) return kNone;
  const size_t step = static_cast<size_t>((address - starts_.front()) >> shift_);
  const auto first = starts_.begin() + coarse_[step], last = starts_.begin() + coarse_[step + 1];
  return owners_[static_cast<size_t>(std::upper_bound(first, last, address) - starts_.begin()) - 1];
}

}  // namespace jprof::a2n
