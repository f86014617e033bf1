// Starts threads of the agent.
#pragma once

#include <pthread.h>

#include <optional>

#include "common/blocked_signals.h"

namespace jprof::agent {

// Calls run(argument) on a thread with all signals blocked, so that the program's signals reach the
// program's threads. Returns the thread, which must be joined before what it uses is freed, or
// nothing if the system refuses another thread.
inline std::optional<pthread_t> StartBackgroundThread(const char* name, void* (*run)(void*),
                                                      void* argument) {
  pthread_t thread;
  const BlockedSignals blocked;
  if (pthread_create(&thread, nullptr, run, argument) != 0) return std::nullopt;
  pthread_setname_np(thread, name);
  return thread;
}

}  // namespace jprof::agent
