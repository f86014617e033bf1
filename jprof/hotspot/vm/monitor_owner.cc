#include "jprof/hotspot/vm/monitor_owner.h"

#include <algorithm>

#include "jprof/hotspot/vm/libjvm_image.h"

namespace jprof::hotspot {
namespace {

// The owner of a monitor that another thread has made of a lock which it has found taken: it is
// known only by the owner's stack of locks.
constexpr uint64_t kAnonymous = 1;
constexpr uint64_t kMostLocks = 64;  // of a stack of locks; HotSpot's has 8

uint64_t Field(MemoryReader& memory, uint64_t of, int64_t offset) {
  return memory.Get<uint64_t>(of + static_cast<uint64_t>(offset));
}

}  // namespace

MonitorOwners::MonitorOwners(const VmStructs& structs)
    : pending_at_(structs.Offset("JavaThread", "_current_pending_monitor")),
      owner_at_(structs.Offset("ObjectMonitor", "_owner")),
      identity_at_(structs.Offset("JavaThread", "_monitor_owner_id")),
      lock_stack_at_(structs.Offset("JavaThread", "_lock_stack")),
      top_at_(structs.Offset("LockStack", "_top")),
      base_at_(structs.Offset("LockStack", "_base[0]")) {
  if (const auto image = LibjvmImage::Open()) fetch_ = MemoryReader::FetchOf(*image);
}

uint32_t MonitorOwners::OwnerOf(uint64_t waiting, uint64_t object,
                                std::span<const MonitorThread> threads) const {
  if (waiting == 0 || pending_at_ < 0 || owner_at_ < 0) return 0;
  MemoryReader memory(fetch_);
  const uint64_t monitor = Field(memory, waiting, pending_at_);
  if (monitor == 0) return 0;
  const uint64_t owner = Field(memory, monitor, owner_at_);
  const auto found = std::ranges::find_if(threads, [&](const MonitorThread& thread) {
    return thread.vm_thread != waiting && Owns(memory, thread, owner, object);
  });
  return found != threads.end() ? found->tid : 0;
}

bool MonitorOwners::Owns(MemoryReader& memory, const MonitorThread& thread, uint64_t owner,
                         uint64_t object) const {
  if (owner == 0) return false;
  if (owner == kAnonymous) return HasOnLockStack(memory, thread.vm_thread, object);
  if (identity_at_ >= 0) return Field(memory, thread.vm_thread, identity_at_) == owner;
  return owner == thread.vm_thread || (owner >= thread.stack.low && owner < thread.stack.high);
}

bool MonitorOwners::HasOnLockStack(MemoryReader& memory, uint64_t vm_thread,
                                   uint64_t object) const {
  if (lock_stack_at_ < 0 || top_at_ < 0 || base_at_ < 0) return false;
  const uint64_t stack = vm_thread + static_cast<uint64_t>(lock_stack_at_);
  const uint64_t base = stack + static_cast<uint64_t>(base_at_);
  // The top is an offset in the JavaThread.
  const uint64_t top = vm_thread + memory.Get<uint32_t>(stack + static_cast<uint64_t>(top_at_));
  if (top < base || top > base + kMostLocks * 8) return false;
  for (uint64_t at = base; at < top; at += 8) {
    if (memory.Get<uint64_t>(at) == object) return true;
  }
  return false;
}

}  // namespace jprof::hotspot
