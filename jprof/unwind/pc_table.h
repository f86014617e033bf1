// Stores what is known about code addresses in a table of fixed size, which all threads share.
//
// - It can be used in a signal handler: it waits for no lock and allocates nothing.
// - If two threads write the same entry at once, one of them succeeds. A new entry may replace an
//   old one. A miss is therefore never an error, only slow.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <type_traits>

namespace jprof::unwind {

// Contains 2^kBits entries, with two places for each address.
template <typename Entry, int kBits>
class PcTable {
  static_assert(std::is_trivially_copyable_v<Entry>);

 public:
  // Pages without entries use no memory. If the mapping fails, every Read is a miss.
  PcTable() {
    void* memory = mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    slots_ = memory == MAP_FAILED ? nullptr : static_cast<Slot*>(memory);
  }
  ~PcTable() {
    if (slots_ != nullptr) munmap(slots_, kSlots * sizeof(Slot));
  }
  PcTable(const PcTable&) = delete;

  // Returns whether there is an entry of `pc` for which read(entry) returns true. `read` may see
  // an entry that is being overwritten, with arbitrary content: the copy it makes is valid only if
  // Read returns true.
  template <typename Reader>
  bool Read(uint64_t pc, Reader read) const {
    if (slots_ == nullptr || pc == 0) return false;
    for (const uint64_t place : {PlaceOf(pc), PlaceOf(pc) ^ 1}) {
      const Slot& slot = slots_[place];
      const uint32_t version = slot.version.load(std::memory_order_acquire);
      if (slot.pc.load(std::memory_order_relaxed) != pc || version % 2 != 0) continue;
      const bool taken = read(slot.entry);
      std::atomic_thread_fence(std::memory_order_acquire);
      return taken && slot.version.load(std::memory_order_relaxed) == version;
    }
    return false;
  }

  void Add(uint64_t pc, const Entry& entry) {
    if (slots_ == nullptr || pc == 0) return;
    Slot& slot = PlaceFor(pc);
    uint32_t version = slot.version.load(std::memory_order_relaxed);
    if (version % 2 != 0 ||
        !slot.version.compare_exchange_strong(version, version + 1, std::memory_order_acquire)) {
      return;  // another thread writes it
    }
    std::atomic_thread_fence(std::memory_order_release);
    slot.pc.store(pc, std::memory_order_relaxed);
    slot.entry = entry;
    slot.version.store(version + 2, std::memory_order_release);
  }

 private:
  struct alignas(64) Slot {
    std::atomic<uint32_t> version;  // odd while it is being written
    std::atomic<uint64_t> pc;       // 0 if there is none
    Entry entry;
  };
  static constexpr uint64_t kSlots = uint64_t{1} << kBits;

  static uint64_t PlaceOf(uint64_t pc) { return pc * 0x9e3779b97f4a7c15 >> (64 - kBits); }

  // Returns the slot of `pc`, a free one, or the one that was written less often.
  Slot& PlaceFor(uint64_t pc) {
    Slot &first = slots_[PlaceOf(pc)], &second = slots_[PlaceOf(pc) ^ 1];
    if (first.pc == pc) return first;
    if (second.pc == pc) return second;
    return second.version < first.version ? second : first;
  }

  Slot* slots_;
};

}  // namespace jprof::unwind
