// Threads of the agent's own.
#pragma once

#include <pthread.h>

#include "common/blocked_signals.h"

namespace jprof::agent {

// Runs run(argument) on a detached thread that takes no signals: those of the program are for its
// own threads. False: the system refuses one more thread.
inline bool StartBackgroundThread(const char* name, void* (*run)(void*), void* argument) {
  pthread_t thread;
  const BlockedSignals blocked;
  if (pthread_create(&thread, nullptr, run, argument) != 0) return false;
  pthread_setname_np(thread, name);
  pthread_detach(thread);
  return true;
}

}  // namespace jprof::agent
