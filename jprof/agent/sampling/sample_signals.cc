#include "jprof/agent/sampling/sample_signals.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/errno_text.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/unwind/unwinder.h"
#include "ptm/tsc.h"

namespace jprof::agent {
namespace {

using Handler = void (*)(int, siginfo_t*, void*);

bool IsHandler(const struct sigaction& action, Handler handler) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == handler;
}

// Returns the path of the library that an action's handler is in.
std::string OwnerOf(const struct sigaction& action) {
  if ((action.sa_flags & SA_SIGINFO) == 0) {
    if (action.sa_handler == SIG_IGN) return "a caller that ignores it";
    if (action.sa_handler == SIG_DFL) return "a caller that removed the handler";
  }
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(action.sa_sigaction), &info) == 0 ||
      info.dli_fname == nullptr)
    return "generated code";
  return info.dli_fname;
}

Result<void> SetHandler(int number, Handler handler, struct sigaction* before) {
  struct sigaction action = {};
  sigaction(number, nullptr, before);
  if (IsHandler(*before, handler)) {
    before->sa_handler = SIG_DFL;  // left behind below another handler, which is gone now
    before->sa_flags = 0;
    return {};
  }
  if ((before->sa_flags & SA_SIGINFO) != 0 ||
      (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)) {
    return Fail("{}: the signal is already used by {}; end that, or sample by {}",
                number == kTimerSignal ? "CPU time cannot be sampled by SIGSTKFLT"
                                       : "IDLE and WALL cannot be sampled by SIGVTALRM",
                OwnerOf(*before), number == kTimerSignal ? "the event WALL" : "the event TIME");
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

// Restores the previous action. Does nothing if another handler has been set meanwhile. The kernel
// discards the pending signals of all threads when a signal is ignored: the previous action, which
// may end the process, does not get them.
void RestoreHandler(int number, Handler handler, const struct sigaction& before) {
  struct sigaction current = {};
  sigaction(number, nullptr, &current);
  if (!IsHandler(current, handler)) return;
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

Result<void> SampleSignals::Open(bool timers, bool requests) {
  for (const auto& [signal, wanted] :
       {std::pair{kTimerSignal, timers}, {kRequestSignal, requests}}) {
    if (!wanted) continue;
    struct sigaction before = {};
    if (auto set = SetHandler(signal, OnSignal, &before); !set) {
      Close();
      return set;
    }
    installed_.push_back({signal, before});
  }
  Publish(*this);
  return {};
}

void SampleSignals::Close() {
  for (const Installed& one : installed_) RestoreHandler(one.signal, OnSignal, one.before);
  installed_.clear();
  Unpublish(*this);
}

std::optional<SampleSignals::Taken> SampleSignals::TakenOver() const {
  for (const Installed& one : installed_) {
    struct sigaction now = {};
    sigaction(one.signal, nullptr, &now);
    if (!IsHandler(now, OnSignal)) return Taken{one.signal, OwnerOf(now)};
  }
  return std::nullopt;
}

void SampleSignals::OnSignal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  if (const InUse<SampleSignals> signals; signals) signals->Handle(number, *info, context);
  errno = saved;
}

void SampleSignals::Handle(int number, const siginfo_t& info, const void* context) {
  SampledThread* sampled = CurrentThread();
  if (sampled == nullptr) return;
  engine::Thread* thread = engine::current_thread;
  const SampleScope scope(gate_, sampled->in_progress);
  const int64_t begin = ptm::ReadTsc();
  if (number != kRequestSignal) {
    TakeExpired(*thread, *sampled, info, context, scope.allowed());
  } else if (info.si_code == SI_QUEUE && scope.allowed()) {
    TakeRequested(*thread, *sampled, context);
  }
  if (!scope.allowed()) return;
  thread->record->sampling_ticks += static_cast<uint64_t>(ptm::ReadTsc() - begin);
}

SampledThread* SampleSignals::CurrentThread() {
  threads_.AdoptCurrent();
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
    sampled.coverage.Signalled(static_cast<uint64_t>(periods) * timers_.covered_ns(i));
    if (recorder_.attributes_to_current()) {
      recorder_.AttributeToCurrent(thread, timers_.trigger(i), periods,
                                   unwind::OfSignal(context).pc);
    } else {
      TakeTimed(thread, sampled, i, periods, context);
    }
  }
}

// Takes a sample if enough time has passed since the last one. Otherwise, the periods are added to
// the next sample.
void SampleSignals::TakeTimed(engine::Thread& thread, SampledThread& sampled, size_t timer,
                              int64_t periods, const void* context) {
  sampled.deferred[timer] += periods;
  const int64_t begin = ptm::ReadTsc();
  if (!sampled.pause.MayWalk(begin)) return;
  recorder_.TakeStack(thread, timers_.trigger(timer), std::exchange(sampled.deferred[timer], 0),
                      context, &sampled.timers[timer]);
  sampled.pause.Walked(begin, ptm::ReadTsc());
}

}  // namespace jprof::agent
