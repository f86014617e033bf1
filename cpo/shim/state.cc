#include "cpo/shim/state.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpo/shim/log.h"
#include "cpo/shim/modules.h"
#include "cpo/shim/pages.h"
#include "cpo/shim/placements.h"
#include "cpo/shim/plan.h"

namespace jprof::cpo {

State g_state;
constinit thread_local bool t_inside = false;

namespace {

void Finish(Phase phase) { __atomic_store_n(&g_state.phase, uint32_t{phase}, __ATOMIC_RELEASE); }

void ReadProgram() {
  const ssize_t bytes = readlink("/proc/self/exe", g_state.program, sizeof g_state.program - 1);
  if (bytes < 0) memcpy(g_state.program, "program", sizeof "program");
}

bool Open() {
  const Plan& plan = ThePlan();
  if (!plan.is_valid || madvise(&g_state, sizeof g_state, MADV_WIPEONFORK) != 0) return false;
  if (!CreateLog(plan.folder, plan.threshold, LargePage())) return false;
  ReadProgram();
  return true;
}

void LogBeginning() {
  if (ThePlan().count > 0 && !AppliesDirectives())
    Note("no directive is applied: /sys/kernel/mm/transparent_hugepage/enabled does not allow it");
  BeginProgress();
  LogAllModules();
}

[[gnu::constructor]] void AtStart() {
  const KeptErrno kept;
  const Inside inside;
  if (inside) IsOn();
}

[[gnu::destructor]] void AtExit() {
  const Inside inside;
  if (inside && __atomic_load_n(&g_state.phase, __ATOMIC_ACQUIRE) == kOn) LogExit();
}

}  // namespace

bool Start() {
  const KeptErrno kept;
  if (environ == nullptr) return false;  // the C library is not ready yet
  uint32_t phase = kNew;
  if (!__atomic_compare_exchange_n(&g_state.phase, &phase, uint32_t{kStarting}, false,
                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return false;
  if (!Open()) {
    Finish(kOff);
    return false;
  }
  LogBeginning();
  Finish(kOn);
  return true;
}

TryLock::TryLock() {
  constexpr int kTries = 1000;
  const uint64_t all = UINT64_MAX;
  if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &signals_, sizeof all) != 0) return;
  for (int i = 0; i < kTries && !has_; ++i) {
    has_ = __atomic_exchange_n(&g_state.locked, 1, __ATOMIC_ACQUIRE) == 0;
    if (!has_) sched_yield();
  }
  if (!has_) syscall(SYS_rt_sigprocmask, SIG_SETMASK, &signals_, nullptr, sizeof signals_);
}

TryLock::~TryLock() {
  if (!has_) return;
  __atomic_store_n(&g_state.locked, 0, __ATOMIC_RELEASE);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &signals_, nullptr, sizeof signals_);
}

KeptErrno::KeptErrno() : errno_(errno) {}
KeptErrno::~KeptErrno() { errno = errno_; }

}  // namespace jprof::cpo
