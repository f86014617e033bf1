#include "jprof/hotspot/objects/object_marks.h"

#include "jprof/hotspot/vm/load.h"
#include "jprof/hotspot/vm/struct_lookup.h"
#include "jprof/hotspot/vm/vm.h"

namespace jprof::hotspot {

Result<ObjectMarks> ObjectMarks::Open(const VmStructs& structs) {
  if (Vm::IsOn(structs, "UseCompactObjectHeaders"))
    return Fail("with compact object headers an object has no room for a number");
  const auto shift = VmStructs::Constant("markWord::hash_shift");
  const auto bits = VmStructs::Constant("markWord::hash_bits");
  if (!shift || !bits || *bits < kRandomBits || *shift + *bits >= 64)
    return Fail("the mark word of this JVM's objects is not known");
  ObjectMarks marks({static_cast<uint32_t>(*shift), static_cast<uint32_t>(*bits)});
  Fields field(structs);
  const int64_t displaced = field.Optional("BasicLock", "_displaced_header");
  marks.in_lock_ =
      static_cast<uint64_t>(displaced >= 0 ? displaced : field("BasicLock", "_metadata"));
  marks.is_displaced_ = displaced >= 0;
  const int64_t header = field.Optional("ObjectMonitor", "_header");
  marks.in_monitor_ =
      static_cast<uint64_t>(header >= 0 ? header : field("ObjectMonitor", "_metadata"));
  if (auto found = field.Check(); !found) return std::unexpected(found.error());
  marks.locking_mode_ = Vm::Flag(structs, "LockingMode");
  marks.monitor_table_ = Vm::Flag(structs, "UseObjectMonitorTable");
  return marks;
}

// The lower part of a number is not 0, which tells it from the hash of an object without a number.
uint64_t ObjectMarks::BitsOf(uint32_t number) const {
  const uint32_t unused = layout_.unused_bits();
  const uint64_t lower = number & ((uint64_t{1} << unused) - 1), upper = number >> unused;
  if (lower == 0 || upper >> (layout_.hash_bits - kRandomBits) != 0) return 0;
  return lower << (64 - unused) | upper << (layout_.hash_shift + kRandomBits);
}

// A biased mark, which JDK 17 and older have with UseBiasedLocking, has the address of a thread. An
// object with a number has a hash, and is never biased.
uint32_t ObjectMarks::NumberIn(uint64_t mark) const {
  if ((mark & kBiasBits) == kBiased) return 0;
  const uint32_t unused = layout_.unused_bits(), upper_bits = layout_.hash_bits - kRandomBits;
  const uint64_t lower = mark >> (64 - unused);
  if (lower == 0) return 0;
  const uint64_t upper = mark >> (layout_.hash_shift + kRandomBits) & ((1u << upper_bits) - 1);
  return static_cast<uint32_t>(upper << unused | lower);
}

// LockingMode 1 keeps locks on stacks. VMs without the flag, before JDK 21, have such locks only.
bool ObjectMarks::LocksAreOnStacks() const {
  if (locking_mode_ == nullptr) return is_displaced_;
  return LoadAt<uint32_t>(reinterpret_cast<uint64_t>(locking_mode_)) == 1;
}

uint64_t ObjectMarks::MarkOf(uint64_t object) const {
  const auto mark = LoadAt<uint64_t>(object);
  const bool is_in_object = monitor_table_ != nullptr && *monitor_table_ != 0;
  if ((mark & kLockBits) == kMonitor && !is_in_object)
    return LoadAt<uint64_t>(mark - kMonitor + in_monitor_);
  if ((mark & kLockBits) == kLocked && LocksAreOnStacks()) return LoadAt<uint64_t>(mark + in_lock_);
  return mark;
}

}  // namespace jprof::hotspot
