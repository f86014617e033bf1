// The threads that existed when the agent was attached: it makes their state, and each takes its
// own at its first sample or event. Filled before samples are taken; from then on any thread may
// call Take, also in a signal handler.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "jprof/engine/thread.h"

namespace jprof::agent {

class EarlyThreads {
 public:
  // Makes space for `count` threads. Call once, before the first Add.
  void Reserve(size_t count);
  // `tid`: not 0, and not added before. Does nothing if there is no space.
  void Add(uint32_t tid, engine::Thread* thread);
  // The state of thread `tid`, once; null: there is none (any longer).
  engine::Thread* Take(uint32_t tid);

 private:
  struct Slot {
    std::atomic<uint32_t> tid = 0;
    std::atomic<engine::Thread*> thread = nullptr;
  };
  // 0 or a power of 2, at least twice the number of threads.
  std::atomic<size_t> capacity_ = 0;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace jprof::agent
