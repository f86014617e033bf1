// Blocks signals in the calling thread while the object exists. Threads that are started meanwhile
// inherit the mask.
#pragma once

#include <signal.h>

#include <initializer_list>

namespace jprof {

class BlockedSignals {
 public:
  // Blocks all signals that can be blocked.
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  // Blocks the given signals, in addition to those that are already blocked.
  explicit BlockedSignals(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace jprof
