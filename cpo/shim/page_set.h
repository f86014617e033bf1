// A set of large pages by number, each with the directive that it is advised for. Open addressing;
// the memory is the caller's, and zero is an empty place. Not thread-safe.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace jprof::cpo {

class PageSet {
 public:
  // `places` is a power of two, above the number of pages that are ever in the set at once.
  PageSet(uint64_t* memory, size_t places) : memory_(memory), places_(places) {}

  // Returns the directive of a page, or -1 if it is not in the set.
  int Find(uint64_t page) const {
    const uint64_t* const at = PlaceOf(page);
    return *at != 0 ? static_cast<int>(*at >> kPageBits) : -1;
  }
  void Insert(uint64_t page, int directive) {
    *PlaceOf(page) = static_cast<uint64_t>(directive) << kPageBits | (page + 1);
  }
  // Closes the gap: pages behind it that it has displaced move up.
  void Remove(uint64_t page) {
    uint64_t* gap = PlaceOf(page);
    if (*gap == 0) return;
    *gap = 0;
    for (size_t at = Next(IndexOf(gap)); memory_[at] != 0; at = Next(at)) {
      const uint64_t entry = memory_[at];
      memory_[at] = 0;
      *PlaceOf(NumberOf(entry)) = entry;
    }
  }
  template <class Visit>
  void ForEach(Visit visit) const {
    for (size_t at = 0; at < places_; ++at) {
      if (memory_[at] != 0)
        visit(NumberOf(memory_[at]), static_cast<int>(memory_[at] >> kPageBits));
    }
  }

 private:
  static constexpr int kPageBits = 48;

  static uint64_t NumberOf(uint64_t entry) {
    return (entry & ((uint64_t{1} << kPageBits) - 1)) - 1;
  }
  size_t IndexOf(const uint64_t* place) const { return static_cast<size_t>(place - memory_); }
  size_t Next(size_t at) const { return (at + 1) & (places_ - 1); }
  // Returns the place of the page or, if it is not in the set, where it would be.
  uint64_t* PlaceOf(uint64_t page) const {
    size_t at = page * 0x9e3779b97f4a7c15 >> 32 & (places_ - 1);
    while (memory_[at] != 0 && NumberOf(memory_[at]) != page) at = Next(at);
    return memory_ + at;
  }

  uint64_t* memory_;
  size_t places_;
};

}  // namespace jprof::cpo
