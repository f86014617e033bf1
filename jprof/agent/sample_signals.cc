#include "jprof/agent/sample_signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/errno_text.h"
#include "jprof/agent/agent.h"
#include "jprof/agent/agent_use.h"
#include "jprof/agent/native_threads.h"
#include "jprof/unwind/unwinder.h"
#include "ptm/tsc.h"

namespace jprof::agent {
namespace {

Result<void> SetHandler(int number, void (*handler)(int, siginfo_t*, void*),
                        struct sigaction* before) {
  struct sigaction action = {};
  sigaction(number, nullptr, before);
  if ((before->sa_flags & SA_SIGINFO) != 0 && before->sa_sigaction == handler) {
    before->sa_handler = SIG_DFL;  // left behind below another handler, which is gone now
    before->sa_flags = 0;
    return {};
  }
  if ((before->sa_flags & SA_SIGINFO) != 0 ||
      (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)) {
    return Fail("signal {} is already used in this process; only one profiler can use it", number);
  }
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP})
    sigdelset(&action.sa_mask, fault);
  if (sigaction(number, &action, nullptr) != 0)
    return Fail("cannot handle signal {}: {}", number, ErrnoText());
  return {};
}

// Does nothing if another handler has been set meanwhile. The kernel discards the pending signals
// of all threads when a signal is ignored: the previous action, which may end the process, does not
// get them.
void RestoreHandler(int number, void (*handler)(int, siginfo_t*, void*),
                    const struct sigaction& before) {
  struct sigaction current = {};
  sigaction(number, nullptr, &current);
  if ((current.sa_flags & SA_SIGINFO) == 0 || current.sa_sigaction != handler) return;
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  sigaction(number, &ignored, nullptr);
  sigaction(number, &before, nullptr);
}

}  // namespace

void RequestSample(uint32_t tid) {
  const pid_t pid = getpid();
  siginfo_t info = {};
  info.si_code = SI_QUEUE;
  info.si_pid = pid;
  info.si_uid = getuid();
  syscall(SYS_rt_tgsigqueueinfo, pid, tid, kRequestSignal, &info);
}

Result<void> SampleSignals::Install() {
  for (; installed_ < std::size(kSignals); ++installed_) {
    auto set = SetHandler(kSignals[installed_], OnSignal, &before_[installed_]);
    if (set) continue;
    Restore();
    return set;
  }
  return {};
}

void SampleSignals::Restore() {
  while (installed_ > 0) {
    --installed_;
    RestoreHandler(kSignals[installed_], OnSignal, before_[installed_]);
  }
}

void SampleSignals::OnSignal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  if (const AgentUse agent; agent && agent->sampling != nullptr)
    agent->sampling->signals().Handle(number, *info, context);
  errno = saved;
}

void SampleSignals::Handle(int number, const siginfo_t& info, const void* context) {
  SampledThread* sampled = CurrentThread();
  if (sampled == nullptr) return;
  engine::Thread* thread = engine::current_thread;
  const SampleGate::Pass pass(gate_, sampled->passage);
  const int64_t begin = ptm::ReadTsc();
  if (number != kRequestSignal) {
    TakeExpired(*thread, *sampled, info, context, pass.allowed());
  } else if (info.si_code == SI_QUEUE && pass.allowed()) {
    TakeRequested(*thread, *sampled, context);
  }
  if (!pass.allowed()) return;
  thread->record->sampling_ticks += static_cast<uint64_t>(ptm::ReadTsc() - begin);
}

SampledThread* SampleSignals::CurrentThread() {
  if (engine::current_thread == nullptr) {
    engine::Thread* thread = early_.Take(CurrentTid());
    if (thread == nullptr) return nullptr;
    engine::Session::Adopt(*thread);
  }
  return CurrentSampledThread();
}

void SampleSignals::TakeRequested(engine::Thread& thread, SampledThread& sampled,
                                  const void* context) {
  for (size_t trigger = 0; trigger < recorder_.trigger_count(); ++trigger) {
    if (const uint32_t ticks = sampled.requested[trigger].exchange(0))
      recorder_.TakeStack(thread, trigger, ticks, context, nullptr);
  }
}

void SampleSignals::TakeExpired(engine::Thread& thread, SampledThread& sampled,
                                const siginfo_t& info, const void* context, bool allowed) {
  for (size_t i = 0; i < timers_.count(); ++i) {
    const int64_t periods = sampled.timers[i].Take(info);
    if (periods == 0 || !allowed) continue;
    if (recorder_.attributes_to_current()) {
      recorder_.AttributeToCurrent(thread, timers_.trigger(i), periods,
                                   unwind::OfSignal(context).pc);
    } else {
      TakeTimed(thread, sampled, i, periods, context);
    }
  }
}

// If a walk takes longer than the period, the next signal is pending when the handler returns, and
// the program makes no progress. So after a walk the program runs for as long as the walk took; the
// periods that end in that time are added to the next sample.
void SampleSignals::TakeTimed(engine::Thread& thread, SampledThread& sampled, size_t timer,
                              int64_t periods, const void* context) {
  sampled.deferred[timer] += periods;
  const int64_t begin = ptm::ReadTsc();
  if (begin < sampled.defer_until) return;
  recorder_.TakeStack(thread, timers_.trigger(timer), std::exchange(sampled.deferred[timer], 0),
                      context, &sampled.timers[timer]);
  const int64_t end = ptm::ReadTsc();
  sampled.defer_until = end + (end - begin);
}

}  // namespace jprof::agent
