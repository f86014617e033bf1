// Holds a lock while no signal handler can run in the calling thread. A handler that ends
// the process or jumps away would leave the lock held, and the next thread to take it would
// wait forever.
#pragma once

#include <mutex>
#include <optional>

#include "common/blocked_signals.h"

namespace jprof {

template <class Lock>
class UninterruptedLock {
 public:
  // `handlers` states whether there may be handlers that take the lock or leave by a jump.
  explicit UninterruptedLock(Lock& lock, bool handlers = true)
      : blocked_(handlers ? std::optional<BlockedSignals>(std::in_place) : std::nullopt),
        guard_(lock) {}

 private:
  const std::optional<BlockedSignals> blocked_;  // destroyed after `guard_`
  const std::lock_guard<Lock> guard_;
};

}  // namespace jprof
