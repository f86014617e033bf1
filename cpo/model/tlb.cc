#include "cpo/model/tlb.h"

#include <algorithm>
#include <bit>

namespace jprof::cpo {
namespace {

constexpr uint64_t kEmpty = ~uint64_t{0};

}  // namespace

LruSets::LruSets(const TlbArray& array)
    : ways_(array.ways),
      sets_(array.ways == 0 ? 0 : array.entries / array.ways),
      mask_(std::has_single_bit(sets_) ? sets_ - 1 : 0),
      keys_(ways_ * sets_, kEmpty) {}

bool LruSets::Touch(uint64_t key, uint64_t index) {
  if (keys_.empty()) return false;
  const size_t set = mask_ != 0 || sets_ == 1 ? index & mask_ : index % sets_;
  uint64_t* const begin = keys_.data() + set * ways_;
  uint64_t* const end = begin + ways_;
  uint64_t* found = std::find(begin, end, key);
  const bool hit = found != end;
  if (!hit) --found;  // the least recently used one makes room
  std::move_backward(begin, found, found + 1);
  *begin = key;
  return hit;
}

DataTlb::Level::Level(const TlbLevel& level)
    : shared(level.shared), small(level.small), other(level.shared ? TlbArray{} : level.large) {}

bool DataTlb::Level::Touch(uint64_t page, bool large) {
  return (large && !shared ? other : small).Touch(page << 1 | (large ? 1 : 0), page);
}

DataTlb::DataTlb(const TlbGeometry& geometry) : first_(geometry.first), second_(geometry.second) {}

TlbHit DataTlb::Touch(uint64_t page, bool large) {
  if (first_.Touch(page, large)) return TlbHit::kFirst;
  return second_.Touch(page, large) ? TlbHit::kSecond : TlbHit::kNone;
}

}  // namespace jprof::cpo
