// The threads that existed when the agent was attached. The agent makes their state, and each
// thread takes its own at its first sample or event. The table is filled before samples are taken;
// from then on any thread may call Take, also in a signal handler.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "jprof/engine/thread.h"

namespace jprof::agent {

class EarlyThreads {
 public:
  // Makes space for `count` threads. Call this once, before the first Add.
  void Reserve(size_t count);
  // Adds a thread, or does nothing if there is no space. Requires that `tid` is not 0 and has not
  // been added before.
  void Add(uint32_t tid, engine::Thread* thread);
  // Returns the state of thread `tid` once, and null if there is none or it was taken.
  engine::Thread* Take(uint32_t tid);
  // Makes the calling thread take its state, if it has none and this table does.
  void AdoptCurrent();

 private:
  struct Slot {
    std::atomic<uint32_t> tid = 0;
    std::atomic<engine::Thread*> thread = nullptr;
  };
  // 0, or a power of 2 that is at least twice the number of threads.
  std::atomic<size_t> capacity_ = 0;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace jprof::agent
