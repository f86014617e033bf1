// A hash table from 64-bit keys to 32-bit numbers, with linear probing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace jprof::heap {

class IdMap {
 public:
  // Returns the number of the key, which becomes `otherwise` if the key is new.
  uint32_t FindOrAdd(uint64_t key, uint32_t otherwise) {
    if (2 * (size_ + 1) > slots_.size()) Grow();
    Slot& slot = SlotOf(key);
    if (!slot.used) {
      slot = {key, otherwise, true};
      ++size_;
    }
    return slot.value;
  }

  std::optional<uint32_t> Find(uint64_t key) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = const_cast<IdMap*>(this)->SlotOf(key);
    return slot.used ? std::optional(slot.value) : std::nullopt;
  }

  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t value = 0;
    bool used = false;
  };

  Slot& SlotOf(uint64_t key) {
    size_t at = (key * 0x9e3779b97f4a7c15u) >> shift_;
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    shift_ = 64;
    for (size_t size = slots_.size(); size > 1; size /= 2) --shift_;
    for (const Slot& slot : old)
      if (slot.used) SlotOf(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
  int shift_ = 64;
};

}  // namespace jprof::heap
