#include "jprof/agent/vm/early_threads.h"

#include <bit>

#include "jprof/agent/vm/native_threads.h"
#include "jprof/engine/session.h"

namespace jprof::agent {

void EarlyThreads::Reserve(size_t count) {
  const size_t capacity = std::bit_ceil(2 * count + 1);
  slots_ = std::make_unique<Slot[]>(capacity);
  capacity_.store(capacity, std::memory_order_release);
}

void EarlyThreads::Add(uint32_t tid, engine::Thread* thread) {
  const size_t capacity = capacity_.load(std::memory_order_acquire);
  for (size_t probe = 0; probe < capacity; ++probe) {
    Slot& slot = slots_[(tid + probe) & (capacity - 1)];
    if (slot.tid.load(std::memory_order_relaxed) != 0) continue;
    slot.thread.store(thread, std::memory_order_relaxed);
    slot.tid.store(tid, std::memory_order_release);
    return;
  }
}

engine::Thread* EarlyThreads::Take(uint32_t tid) {
  const size_t capacity = capacity_.load(std::memory_order_acquire);
  for (size_t probe = 0; probe < capacity; ++probe) {
    Slot& slot = slots_[(tid + probe) & (capacity - 1)];
    const uint32_t found = slot.tid.load(std::memory_order_acquire);
    if (found == 0) return nullptr;
    if (found == tid) return slot.thread.exchange(nullptr, std::memory_order_acq_rel);
  }
  return nullptr;
}

void EarlyThreads::AdoptCurrent() {
  if (engine::current_thread != nullptr) return;
  if (engine::Thread* const thread = Take(CurrentTid()))
    engine::ThreadRegistry::MakeCurrent(*thread);
}

}  // namespace jprof::agent
