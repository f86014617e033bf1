// While this object exists, a write beyond the process's limit on the size of files (`ulimit -f`)
// fails with EFBIG and sends no SIGXFSZ, which would end the program.
#pragma once

#include <signal.h>
#include <time.h>

#include "common/blocked_signals.h"

namespace jprof {

class NoFileSizeSignal {
 public:
  NoFileSizeSignal() : was_pending_(IsPending()) {}
  ~NoFileSizeSignal() {
    if (was_pending_ || !IsPending()) return;
    const sigset_t set = Set();
    const timespec at_once = {};
    sigtimedwait(&set, nullptr, &at_once);
  }

 private:
  static sigset_t Set() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
  }
  static bool IsPending() {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  }

  const BlockedSignals blocked_{SIGXFSZ};  // first: the signal stays pending from here on
  const bool was_pending_;
};

}  // namespace jprof
