// A lock that may be taken inside a probe. This is safe because no holder waits for a safepoint, a
// Java monitor or a JVM lock: the sections are short and make only system calls that return.
#pragma once

#include <sched.h>

#include <atomic>

namespace jprof {

class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

}  // namespace jprof
