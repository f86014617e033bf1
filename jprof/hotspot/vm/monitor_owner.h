// Finds the thread that holds a monitor for which the calling thread is about to wait, in the VM's
// structures. They may change meanwhile: the answer is then an earlier or a later owner, or none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/vm_structs.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::hotspot {

// A thread that may be the owner.
struct MonitorThread {
  uint64_t vm_thread = 0;  // JavaThread*
  uint32_t tid = 0;
  unwind::StackBounds stack;
};

class MonitorOwners {
 public:
  // Without what this VM does not export, fewer owners are found.
  explicit MonitorOwners(const VmStructs& structs);

  // Returns the kernel's id of the owner, which is one of `threads`, or 0 if it is not known.
  // `waiting` is the calling thread's JavaThread*, and `object` the address of the object.
  uint32_t OwnerOf(uint64_t waiting, uint64_t object, std::span<const MonitorThread> threads) const;

 private:
  bool Owns(MemoryReader& memory, const MonitorThread& thread, uint64_t owner,
            uint64_t object) const;
  bool HasOnLockStack(MemoryReader& memory, uint64_t vm_thread, uint64_t object) const;

  int64_t pending_at_, owner_at_;
  int64_t identity_at_;  // -1 up to JDK 23: the owner is a JavaThread* or in its stack
  int64_t lock_stack_at_, top_at_, base_at_;  // -1 before JDK 21
  MemoryReader::Fetch fetch_ = nullptr;
};

}  // namespace jprof::hotspot
