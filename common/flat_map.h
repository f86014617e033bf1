// Provides a hash table from numbers to indices for lookups in loops over millions of records. It
// uses open addressing, and nothing is removed.
#pragma once

#include <cstdint>
#include <vector>

namespace jprof {

class FlatMap {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  FlatMap() : slots_(kSmallest) {}

  // Returns the value of `key`, or `other` if it has none.
  uint32_t Get(uint64_t key, uint32_t other) const {
    const uint32_t value = slots_[At(key)].value;
    return value == kNone ? other : value;
  }

  // Returns the value of `key`, which becomes `otherwise` if the key is new. Requires that
  // `otherwise` is not kNone.
  uint32_t FindOrAdd(uint64_t key, uint32_t otherwise) {
    uint32_t& value = (*this)[key];
    if (value == kNone) value = otherwise;
    return value;
  }

  // Returns the value of `key`, or kNone for a new one, which must be set before the next call.
  uint32_t& operator[](uint64_t key) {
    if (4 * (used_ + 1) > 3 * slots_.size()) Grow();
    Slot& slot = Find(key);
    if (slot.value == kNone && slot.key != key) {
      slot.key = key;
      ++used_;
    }
    return slot.value;
  }

 private:
  static constexpr size_t kSmallest = 64;
  struct Slot {
    uint64_t key = ~uint64_t{0};
    uint32_t value = kNone;
  };

  size_t At(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    // Multiplicative hashing (Knuth): the highest bits of the product depend on all of the key.
    size_t at = (key * 0x9e3779b97f4a7c15u) >> shift_;
    while (slots_[at].key != key && slots_[at].value != kNone) at = (at + 1) & mask;
    return at;
  }
  Slot& Find(uint64_t key) { return slots_[At(key)]; }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old) {
      if (slot.value != kNone) Find(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  int shift_ = 58;  // 64 less the bits of an index into slots_
  size_t used_ = 0;
};

}  // namespace jprof
