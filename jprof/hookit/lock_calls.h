// Connects the library of lock_functions.cc, which replaces functions of pthread_*, with the
// recording. That library is preloaded only where locks are counted; the recording is in the
// library of the hooks.
#pragma once

#include <cstdint>

#include "common/lock_kind.h"

namespace jprof::hookit {

// A thread asks for a lock.
struct LockRequest {
  const void* lock = nullptr;
  LockKind kind = LockKind::kMutex;
  const void* site = nullptr;  // return address of the call
  bool may_wait = true;        // false if the function fails where it would have to wait
  int64_t waits_since = 0;     // in ns (MonotonicNanos); 0 if it does not wait
  uint32_t owner = 0;          // node in which the lock's owner has taken it; 0 if it is not known
};

// All of these keep errno, take no lock of the program, and allocate nothing by malloc.
struct LockCalls {
  void (*contended)(LockRequest& request);               // the thread begins to wait
  void (*ends)(const LockRequest& request, bool taken);  // it has the lock, or has failed
  void (*releases)(const void* lock);                    // before it releases the lock
  void (*pauses)(const void* lock);                      // the lock is free while the thread waits
  void (*resumes)(const void* lock);                     // for a condition
};

}  // namespace jprof::hookit

// Is null while no locks are counted.
extern "C" [[gnu::visibility("default")]] const jprof::hookit::LockCalls* jprof_lock_calls;
