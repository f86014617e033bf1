#include "cpo/allocations/placed.h"

#include <algorithm>
#include <utility>

namespace jprof::cpo {

void Placed::End(uint64_t start, uint64_t size, uint64_t time) {
  const uint64_t last = start + (size - 1);
  now_.ForEachIn(start, last, [&](uint64_t first, uint64_t end, const Owner& owner) {
    const uint64_t to = std::max(time, owner.from);
    past_.push_back({first, end - first + 1, owner.from, to, owner.group});
    free_since_.Set(first, end, to);
  });
  now_.Clear(start, last);
}

void Placed::Begin(uint64_t start, uint64_t size, uint64_t time, uint32_t group) {
  End(start, size, time);
  const uint64_t last = start + (size - 1);
  uint64_t from = time;
  free_since_.ForEachIn(start, last,
                        [&](uint64_t, uint64_t, uint64_t since) { from = std::max(from, since); });
  now_.Set(start, last, {from, group});
}

void Placed::Fill(uint64_t start, uint64_t size, uint64_t time, uint32_t group) {
  const uint64_t last = start + (size - 1);
  std::vector<std::pair<uint64_t, uint64_t>> gaps;
  uint64_t next = start;
  bool is_full = false;  // the last piece ends where the address space does
  now_.ForEachIn(start, last, [&](uint64_t first, uint64_t end, const Owner&) {
    if (first > next) gaps.push_back({next, first - 1});
    next = end + 1;
    is_full = end == last;
  });
  if (!is_full) gaps.push_back({next, last});
  for (const auto& [first, end] : gaps) Begin(first, end - first + 1, time, group);
}

std::vector<Placement> Placed::Finish() {
  now_.ForEachIn(0, UINT64_MAX, [&](uint64_t first, uint64_t last, const Owner& owner) {
    past_.push_back({first, last - first + 1, owner.from, kForever, owner.group});
  });
  return std::exchange(past_, {});
}

}  // namespace jprof::cpo
