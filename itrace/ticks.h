// Interrupts the system calls of this thread several times a second (SIGALRM), so that a wait for a
// traced process always ends.
#pragma once

#include <signal.h>
#include <time.h>

namespace jprof::itrace {

class Ticks {
 public:
  Ticks();
  ~Ticks();
  Ticks(const Ticks&) = delete;

  // Returns whether there was a tick since the last call.
  static bool Passed();

 private:
  timer_t timer_ = {};
  bool made_ = false;
  struct sigaction before_ = {};
  sigset_t mask_before_ = {};
};

}  // namespace jprof::itrace
