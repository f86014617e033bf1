// Requests samples of idle threads (IDLE) and of all threads (WALL): in each tick of the trigger
// the threads whose unsampled time has reached the period are signalled, at most 32 of them, so
// that many idle threads cost no more than few. Owner: the background thread.
#pragma once

#include "jprof/agent/idle_account.h"
#include "jprof/engine/session.h"

namespace jprof::agent {

class IdleRequests {
 public:
  explicit IdleRequests(engine::Session& session) : session_(session) {}

  // One tick of a trigger.
  void Request(size_t trigger, const IdleTick& tick);

 private:
  engine::Session& session_;
  Rotation rotation_{32};
};

}  // namespace jprof::agent
