// Requests samples of idle threads (IDLE) and of all threads (WALL). In each tick of the trigger it
// signals the threads whose unsampled time has reached the period, at most 32 of them, which limits
// the cost of many idle threads. Only the background thread may use it.
#pragma once

#include "jprof/agent/sampling/idle_account.h"
#include "jprof/engine/session.h"

namespace jprof::agent {

class IdleRequests {
 public:
  explicit IdleRequests(engine::Session& session) : session_(session) {}

  // Processes one tick of a trigger.
  void Request(size_t trigger, const IdleTick& tick);

 private:
  engine::Session& session_;
  Rotation rotation_{32};
};

}  // namespace jprof::agent
