#include "jprof/engine/gate/gate.h"

#include "common/uninterrupted_lock.h"
#include "jprof/engine/thread_registry.h"

namespace jprof::engine {

void Gate::Begin() {
  paused_ = was_paused_ = options_.begins_paused;
  writer_.header()->paused = paused_;
}

bool Gate::TakeCall() {
  uint64_t& calls = writer_.header()->gate_calls;
  return __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) >= options_.gate_after;
}

// The number changes first: whoever finds the session running finds it.
void Gate::Start() {
  const UninterruptedLock guard(lock_);
  if (!paused_) return;
  run_.fetch_add(1);
  paused_ = false;
  writer_.header()->paused = 0;
  ++writer_.header()->starts;
  threads_.Request(kResume);
}

void Gate::Stop() {
  const UninterruptedLock guard(lock_);
  if (paused_) return;
  was_paused_ = true;
  paused_ = true;
  writer_.header()->paused = 1;
  ++writer_.header()->stops;
  threads_.Request(kPaused);
}

}  // namespace jprof::engine
