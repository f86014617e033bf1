// Simulates a data TLB of two levels, reference by reference: sets of the least recently used
// translations, chosen by the lowest bits of the page's number. A reference looks into the first
// level, then into the second, and then walks the page tables; what it lacked is put into both. A
// hit of the first level does not renew the translation in the second.
//
// What real processors also do is not simulated: prefetched and coalesced translations, hashed or
// skewed sets, other orders than least recently used, instructions in a shared second level, and
// the parts of page tables that processors keep.
#pragma once

#include <cstdint>
#include <vector>

#include "cpo/model/tlb_geometry.h"

namespace jprof::cpo {

// An array of translations. Not for several threads at a time.
class LruSets {
 public:
  // Requires entries that are a multiple of the ways, or none: then each reference misses.
  explicit LruSets(const TlbArray& array);

  // References `key`, which is any number but ~0 and belongs to the set `index % sets`. Returns
  // whether it was there; it then is, as the most recently used one.
  bool Touch(uint64_t key, uint64_t index);

 private:
  size_t ways_;
  size_t sets_;
  uint64_t mask_;               // of the index if the number of sets is a power of two, else 0
  std::vector<uint64_t> keys_;  // set by set, each from the most to the least recently used
};

// Which level had a translation.
enum class TlbHit { kFirst, kSecond, kNone };

class DataTlb {
 public:
  explicit DataTlb(const TlbGeometry& geometry);

  // References the page of this number: the address divided by the size of the page.
  TlbHit Touch(uint64_t page, bool large);

 private:
  struct Level {
    explicit Level(const TlbLevel& level);
    bool Touch(uint64_t page, bool large);
    bool shared;
    LruSets small, other;
  };
  Level first_, second_;
};

}  // namespace jprof::cpo
