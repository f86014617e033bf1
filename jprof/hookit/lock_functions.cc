// The library libjprof_locks.so, which `jprof locks -- ./program` preloads beside the library of
// the hooks. It replaces the functions of pthread_* that take and release locks. Where no locks are
// counted it calls the C library's functions and does nothing else. A function first tries to get
// the lock: if that fails, the thread waits.
#include <errno.h>
#include <pthread.h>

#include "jprof/hookit/lock_calls.h"
#include "jprof/hookit/next_function.h"

#define JPROF_EXPORTED extern "C" [[gnu::visibility("default")]]
#define JPROF_SITE __builtin_return_address(0)

extern "C" [[gnu::weak]] const jprof::hookit::LockCalls* jprof_lock_calls;
// States for the library of the hooks that this one is loaded.
JPROF_EXPORTED const char jprof_counts_locks;
const char jprof_counts_locks = 1;

using namespace jprof;
using hookit::LockCalls;
using hookit::LockRequest;

namespace {

#define JPROF_NEXT(name, ...) constinit NextFunction<int(__VA_ARGS__)> next_##name(#name)
JPROF_NEXT(pthread_mutex_lock, pthread_mutex_t*);
JPROF_NEXT(pthread_mutex_trylock, pthread_mutex_t*);
JPROF_NEXT(pthread_mutex_timedlock, pthread_mutex_t*, const timespec*);
JPROF_NEXT(pthread_mutex_clocklock, pthread_mutex_t*, clockid_t, const timespec*);
JPROF_NEXT(pthread_mutex_unlock, pthread_mutex_t*);
JPROF_NEXT(pthread_rwlock_rdlock, pthread_rwlock_t*);
JPROF_NEXT(pthread_rwlock_tryrdlock, pthread_rwlock_t*);
JPROF_NEXT(pthread_rwlock_timedrdlock, pthread_rwlock_t*, const timespec*);
JPROF_NEXT(pthread_rwlock_clockrdlock, pthread_rwlock_t*, clockid_t, const timespec*);
JPROF_NEXT(pthread_rwlock_wrlock, pthread_rwlock_t*);
JPROF_NEXT(pthread_rwlock_trywrlock, pthread_rwlock_t*);
JPROF_NEXT(pthread_rwlock_timedwrlock, pthread_rwlock_t*, const timespec*);
JPROF_NEXT(pthread_rwlock_clockwrlock, pthread_rwlock_t*, clockid_t, const timespec*);
JPROF_NEXT(pthread_rwlock_unlock, pthread_rwlock_t*);
JPROF_NEXT(pthread_cond_clockwait, pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
#undef JPROF_NEXT
// On x86-64 the older version of these is for another pthread_cond_t.
constexpr char kSecondConditions[] = "GLIBC_2.3.2";
constinit NextFunction<int(pthread_cond_t*, pthread_mutex_t*)> next_pthread_cond_wait(
    "pthread_cond_wait", kSecondConditions);
constinit NextFunction<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>
    next_pthread_cond_timedwait("pthread_cond_timedwait", kSecondConditions);

template <class... Functions>
void LookAll(Functions&... functions) {
  (functions.Look(), ...);
}

[[gnu::constructor]] void FindAll() {
  LookAll(next_pthread_mutex_lock, next_pthread_mutex_trylock, next_pthread_mutex_timedlock,
          next_pthread_mutex_clocklock, next_pthread_mutex_unlock, next_pthread_rwlock_rdlock,
          next_pthread_rwlock_tryrdlock, next_pthread_rwlock_timedrdlock,
          next_pthread_rwlock_clockrdlock, next_pthread_rwlock_wrlock,
          next_pthread_rwlock_trywrlock, next_pthread_rwlock_timedwrlock,
          next_pthread_rwlock_clockwrlock, next_pthread_rwlock_unlock, next_pthread_cond_wait,
          next_pthread_cond_timedwait, next_pthread_cond_clockwait);
}

const LockCalls* Calls() {
  return &jprof_lock_calls != nullptr ? __atomic_load_n(&jprof_lock_calls, __ATOMIC_ACQUIRE)
                                      : nullptr;
}

// A robust mutex whose owner has died is taken.
bool IsTaken(int result) { return result == 0 || result == EOWNERDEAD; }

// Takes a lock by a function that does not wait.
template <class Attempt>
int TryFor(LockRequest request, Attempt attempt) {
  const int result = attempt();
  request.may_wait = false;
  const LockCalls* const calls = IsTaken(result) ? Calls() : nullptr;
  if (calls != nullptr) calls->ends(request, true);
  return result;
}

// Takes a lock by a function that waits if another thread holds it. Other errors of the attempt are
// those of the function that waits. It is not called after them: after ENOTRECOVERABLE, glibc's
// would wait for ever.
template <class Attempt, class Wait>
int Take(LockRequest request, Attempt attempt, Wait wait) {
  const LockCalls* const calls = Calls();
  if (calls == nullptr) return wait();
  int result = attempt();
  if (result == EBUSY) {
    calls->contended(request);
    result = wait();
  }
  if (IsTaken(result) || result == ETIMEDOUT) calls->ends(request, IsTaken(result));
  return result;
}

template <class Next, class Lock, class... More>
int TakeMutex(const void* site, Next& next, Lock* mutex, More... more) {
  return Take(
      {.lock = mutex, .kind = LockKind::kMutex, .site = site},
      [=] { return next_pthread_mutex_trylock.Get()(mutex); },
      [=, &next] { return next.Get()(mutex, more...); });
}

template <class Next, class Lock, class... More>
int TakeRead(const void* site, Next& next, Lock* lock, More... more) {
  return Take(
      {.lock = lock, .kind = LockKind::kReadLock, .site = site},
      [=] { return next_pthread_rwlock_tryrdlock.Get()(lock); },
      [=, &next] { return next.Get()(lock, more...); });
}

template <class Next, class Lock, class... More>
int TakeWrite(const void* site, Next& next, Lock* lock, More... more) {
  return Take(
      {.lock = lock, .kind = LockKind::kWriteLock, .site = site},
      [=] { return next_pthread_rwlock_trywrlock.Get()(lock); },
      [=, &next] { return next.Get()(lock, more...); });
}

template <class Next, class Lock>
int Release(Next& next, Lock* lock) {
  if (const LockCalls* const calls = Calls()) calls->releases(lock);
  return next.Get()(lock);
}

// Waits for a condition. The lock is not held meanwhile. A cancelled thread does not return.
template <class Next, class... More>
int WaitFor(Next& next, pthread_cond_t* condition, pthread_mutex_t* mutex, More... more) {
  if (const LockCalls* const calls = Calls()) calls->pauses(mutex);
  const int result = next.Get()(condition, mutex, more...);
  if (const LockCalls* const calls = Calls()) calls->resumes(mutex);
  return result;
}

}  // namespace

JPROF_EXPORTED int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return TakeMutex(JPROF_SITE, next_pthread_mutex_lock, mutex);
}
JPROF_EXPORTED int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  return TakeMutex(JPROF_SITE, next_pthread_mutex_timedlock, mutex, until);
}
JPROF_EXPORTED int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* until) noexcept {
  return TakeMutex(JPROF_SITE, next_pthread_mutex_clocklock, mutex, clock, until);
}
JPROF_EXPORTED int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  return TryFor({.lock = mutex, .kind = LockKind::kMutex, .site = JPROF_SITE},
                [=] { return next_pthread_mutex_trylock.Get()(mutex); });
}
JPROF_EXPORTED int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  return Release(next_pthread_mutex_unlock, mutex);
}

JPROF_EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return TakeRead(JPROF_SITE, next_pthread_rwlock_rdlock, lock);
}
JPROF_EXPORTED int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                              const timespec* until) noexcept {
  return TakeRead(JPROF_SITE, next_pthread_rwlock_timedrdlock, lock, until);
}
JPROF_EXPORTED int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                              const timespec* until) noexcept {
  return TakeRead(JPROF_SITE, next_pthread_rwlock_clockrdlock, lock, clock, until);
}
JPROF_EXPORTED int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  return TryFor({.lock = lock, .kind = LockKind::kReadLock, .site = JPROF_SITE},
                [=] { return next_pthread_rwlock_tryrdlock.Get()(lock); });
}
JPROF_EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return TakeWrite(JPROF_SITE, next_pthread_rwlock_wrlock, lock);
}
JPROF_EXPORTED int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                              const timespec* until) noexcept {
  return TakeWrite(JPROF_SITE, next_pthread_rwlock_timedwrlock, lock, until);
}
JPROF_EXPORTED int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                              const timespec* until) noexcept {
  return TakeWrite(JPROF_SITE, next_pthread_rwlock_clockwrlock, lock, clock, until);
}
JPROF_EXPORTED int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  return TryFor({.lock = lock, .kind = LockKind::kWriteLock, .site = JPROF_SITE},
                [=] { return next_pthread_rwlock_trywrlock.Get()(lock); });
}
JPROF_EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  return Release(next_pthread_rwlock_unlock, lock);
}

JPROF_EXPORTED int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return WaitFor(next_pthread_cond_wait, condition, mutex);
}
JPROF_EXPORTED int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          const timespec* until) {
  return WaitFor(next_pthread_cond_timedwait, condition, mutex, until);
}
JPROF_EXPORTED int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          clockid_t clock, const timespec* until) {
  return WaitFor(next_pthread_cond_clockwait, condition, mutex, clock, until);
}
