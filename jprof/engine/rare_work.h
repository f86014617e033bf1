// Claims a thread's state for the engine: while the engine changes it, the events of signal
// handlers that interrupt the engine are dropped.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "jprof/engine/thread.h"

namespace jprof::engine {

// Is true while the calling thread is in RareWork, also if it has no state.
extern __thread bool in_rare_work __attribute__((tls_model("initial-exec")));

// Sets or clears kRareWork. Only the owner may call it.
[[gnu::always_inline]] inline void SetRareWork(Thread& thread, bool on) {
  SetOwnAttention<kRareWork>(thread, on);
}

// Sets the end of the block of a trace. Null while there is a block means that an event is
// being written.
[[gnu::always_inline]] inline void SetTraceEnd(Thread& thread, uint8_t* end) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.cursor.trace_end = end;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
// Returns whether an event is being written.
[[gnu::always_inline]] inline bool IsWritingTrace(const Thread& thread) {
  return thread.timeline.block != nullptr && thread.cursor.trace_end == nullptr;
}
// Sets the end of the current block, if there is one.
[[gnu::always_inline]] inline void StopWritingTrace(Thread& thread) {
  profile::TraceBlock* const block = thread.timeline.block;
  if (block == nullptr) return;
  SetTraceEnd(thread, reinterpret_cast<uint8_t*>(block) + profile::kTraceBlockBytes);
}

// Claims all that the engine has for the calling thread, and the right to take the engine's locks.
// A signal handler whose functions have hooks may interrupt it at any instruction: its events leave
// the fast path, find the claim, and are dropped, entries and exits alike. The program's errno is
// kept: a hook may be called between a call that fails and the test of its error.
class RareWork {
 public:
  RareWork() : errno_(errno), acquired_(Begin(current_thread)) {
    // A handler may have created the thread's state since.
    if (acquired_ && current_thread != nullptr) SetRareWork(*current_thread, true);
  }
  // Marks the thread instead of its state, which may be freed meanwhile.
  explicit RareWork(std::nullptr_t) : errno_(errno), acquired_(Begin(nullptr)) {}
  ~RareWork() {
    if (acquired_) End();
    errno = errno_;
  }
  RareWork(const RareWork&) = delete;
  RareWork& operator=(const RareWork&) = delete;
  // Returns false if the interrupted code, or a caller, had already claimed it.
  bool acquired() const { return acquired_; }

 private:
  static bool Begin(Thread* thread) {
    if (in_rare_work) return false;
    if (thread != nullptr && ((AttentionOf(*thread) & kRareWork) != 0 || IsWritingTrace(*thread)))
      return false;
    if (thread != nullptr) SetRareWork(*thread, true);
    in_rare_work = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return true;
  }
  static void End() {  // the thread may have got a state meanwhile, or have lost it
    std::atomic_signal_fence(std::memory_order_seq_cst);
    in_rare_work = false;
    if (current_thread != nullptr) SetRareWork(*current_thread, false);
  }

  const int errno_;
  const bool acquired_;
};

}  // namespace jprof::engine
