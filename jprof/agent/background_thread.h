// Starts threads of the agent.
#pragma once

#include <pthread.h>

#include "common/blocked_signals.h"

namespace jprof::agent {

// Calls run(argument) on a detached thread with all signals blocked, so that the program's signals
// reach the program's threads. Returns false if the system refuses another thread.
inline bool StartBackgroundThread(const char* name, void* (*run)(void*), void* argument) {
  pthread_t thread;
  const BlockedSignals blocked;
  if (pthread_create(&thread, nullptr, run, argument) != 0) return false;
  pthread_setname_np(thread, name);
  pthread_detach(thread);
  return true;
}

}  // namespace jprof::agent
