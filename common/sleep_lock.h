// A lock for sections that may wait for the disk. A waiting thread sleeps and uses no processor
// time. Like SpinLock, it may be taken inside a probe: holders make system calls only, and no
// holder waits for a safepoint, a Java monitor or a JVM lock.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace jprof {

class SleepLock {
 public:
  bool try_lock() {
    int seen = kFree;
    return state_.compare_exchange_strong(seen, kHeld, std::memory_order_acquire);
  }
  void lock() {
    if (try_lock()) return;
    while (state_.exchange(kWanted, std::memory_order_acquire) != kFree) {
      syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kWanted, nullptr, nullptr, 0);
    }
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kWanted) {
      syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }

 private:
  enum State : int { kFree, kHeld, kWanted };
  std::atomic<int> state_ = kFree;
};
static_assert(sizeof(std::atomic<int>) == sizeof(int));  // the futex word

}  // namespace jprof
