// Numbers objects in their mark word, which is the first word of an object and moves with it.
//
// HotSpot leaves the top bits of the mark word unused, unless headers are compact, and has the
// identity hash below them. Its collectors keep the whole word of an object that has an identity
// hash. So an object that gets a random hash and a number when it is allocated, before another
// thread knows it, has both as long as it exists. A number that is too long for the unused bits
// continues in the upper bits of the hash, whose other bits stay random.
//
// Object.clone loses the number where the VM's own code copies the object, which clears the mark
// word after the allocation: that is the method itself (JVM_Clone), unless the collector copies
// only the elements of an array, and with ZGC what compiled code calls in place of the method.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/result.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

// States where the parts of a mark word are, in bits.
struct MarkLayout {
  uint32_t hash_shift = 8, hash_bits = 31;
  uint32_t unused_bits() const { return 64 - hash_shift - hash_bits; }
};

class ObjectMarks {
 public:
  static constexpr uint32_t kRandomBits = 26;  // of the hash

  explicit ObjectMarks(MarkLayout layout) : layout_(layout) {}
  // Fails if this VM has compact headers, or does not export what is required.
  static Result<ObjectMarks> Open(const VmStructs& structs);

  // Returns the bits of a number in a mark word. They are 0 if it has no room for the number.
  uint64_t BitsOf(uint32_t number) const;

  // Gives a new object the number with these bits. Requires that no other thread knows the object,
  // and that the bits are not 0.
  [[gnu::always_inline]] void Mark(uint64_t object, uint64_t bits, uint64_t random) const {
    const uint64_t hash = random >> (64 - kRandomBits);
    const uint64_t mark = bits | (hash != 0 ? hash : 1) << layout_.hash_shift | kUnlocked;
    std::memcpy(reinterpret_cast<void*>(object), &mark, sizeof mark);
  }

  // Returns the number of an object, or 0 if it has none. Requires a safepoint.
  uint32_t NumberOf(uint64_t object) const { return NumberIn(MarkOf(object)); }
  uint32_t NumberIn(uint64_t mark) const;

 private:
  static constexpr uint64_t kLockBits = 3, kLocked = 0, kUnlocked = 1, kMonitor = 2;
  static constexpr uint64_t kBiasBits = 7, kBiased = 5;

  uint64_t MarkOf(uint64_t object) const;
  bool LocksAreOnStacks() const;

  MarkLayout layout_;
  // Where the word of a locked object is kept: in its monitor or on the stack of its owner.
  uint64_t in_monitor_ = 0, in_lock_ = 0;
  const uint8_t* locking_mode_ = nullptr;   // the flag, or null if this VM has none
  const uint8_t* monitor_table_ = nullptr;  // the flag that leaves the word in the object, or null
  bool is_displaced_ = false;  // whether a VM without the first flag keeps locks on stacks
};

}  // namespace jprof::hotspot
