// Handles the threads and processes that come and go during a trace.
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>

#include "itrace/tracer.h"

namespace jprof::itrace {

// Handles a thread that a traced thread has made, or a process.
void Tracer::OnUnknown(pid_t tid, const Stop& stop) {
  if (stop.ended()) return;
  const auto pid = static_cast<uint32_t>(context_.tracee.pid());
  const auto threads = procfs::Threads(pid);
  if (std::ranges::count(threads, static_cast<uint32_t>(tid)) != 0) {
    threads_[tid].traced = std::make_unique<TracedThread>(context_, tid);
    context_.events.OnThread(pid, static_cast<uint32_t>(tid));
    if (ending_) return Release(tid);
    if (context_.options.all_threads && began_ && range_.end == TraceRange::End::kNever)
      return BeginThread(tid, threads_[tid], std::nullopt);
    Continue(tid);
    return;
  }
  if (forked_.erase(tid) == 0) {
    early_.insert(tid);  // its parent reports it next
    return;
  }
  if (auto copy = Tracee::Open(tid)) breakpoints_.RemoveFrom(*copy);
  itrace::Detach(tid);
}

void Tracer::OnFork(pid_t tid, Known& known, const Stop& stop) {
  const auto child = static_cast<pid_t>(EventMessage(tid));
  if (stop.event() != PTRACE_EVENT_CLONE) {
    context_.events.OnFork(static_cast<uint32_t>(context_.tracee.pid()),
                           static_cast<uint32_t>(child));
    forked_.insert(child);
    if (stop.event() == PTRACE_EVENT_VFORK && breakpoints_.any()) {
      // The child shares the memory, with the breakpoints in it.
      forked_.erase(child);
      threads_[child].traced = std::make_unique<TracedThread>(context_, child);
      threads_[child].foreign = true;
      if (early_.erase(child) != 0) Continue(child);
      return PassOn(tid, threads_.at(tid), stop);
    }
    if (early_.erase(child) != 0) {
      Stop stopped{.status = SIGSTOP << 8 | 0x7f};
      OnUnknown(child, stopped);
    }
  }
  PassOn(tid, known, stop);
}

void Tracer::OnThreadEnd(pid_t tid, const Stop& stop) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return;
  const bool foreign = found->second.foreign;
  if (!foreign) {
    found->second.traced->Ended();
    if (const ThreadTotals totals = found->second.traced->totals(); totals.traced_ns != 0)
      totals_.push_back(totals);
    context_.events.OnExit(static_cast<uint32_t>(context_.tracee.pid()),
                           static_cast<uint32_t>(tid));
  }
  threads_.erase(found);
  if (tid == context_.tracee.pid()) process_status_ = stop.status;
}

// Handles an exec: all other threads are gone, and the thread that called it has the number of the
// process.
void Tracer::OnExec(pid_t tid) {
  if (threads_.at(tid).foreign) {
    itrace::Detach(tid);
    threads_.erase(tid);
    return;
  }
  const auto former = static_cast<pid_t>(EventMessage(tid));
  breakpoints_.Forget();
  bool active = exec_awaited_;
  if (former != tid && threads_.contains(former)) {
    active |= threads_.at(former).traced->active();
    threads_.at(former).traced->Ended();
    totals_.push_back(threads_.at(former).traced->totals());
    threads_.erase(former);
    threads_.at(tid).traced->Ended();
    threads_.at(tid).traced = std::make_unique<TracedThread>(context_, tid);
  }
  Stop stop;  // the end of the system call
  if (!ContinueToSystemCall(tid) || !AwaitStop(tid, stop) || stop.ended())
    return OnThreadEnd(tid, stop);
  if (auto memory = Tracee::Open(tid)) context_.tracee = *std::move(memory);
  context_.events.OnExec(static_cast<uint32_t>(tid));
  exec_awaited_ = false;
  Known& known = threads_.at(tid);
  if (known.traced->active()) {
    known.traced->Executed();
    return AfterStop(tid);
  }
  if (active && range_.begin != TraceRange::Begin::kPlace)
    return BeginThread(tid, known, std::nullopt);
  if (range_.begin == TraceRange::Begin::kPlace) entry_ = context_.tracee.EntryPoint();
  SetBreakpoints();
  Continue(tid);
}

void Tracer::OnEventStop(pid_t tid, Known& known, const Stop& stop) {
  const bool process_stopped = stop.signal() != SIGTRAP;
  if (known.interrupting) {
    known.interrupting = false;
    if (ending_) {
      if (known.traced->active()) known.traced->Park();
      if (known.traced->mode() == TracedThread::Mode::kEnded) return;
      return Release(tid);
    }
    if (known.begins && !process_stopped) return BeginThread(tid, known, std::nullopt);
    known.interrupting = known.begins;
  }
  if (process_stopped) {
    Listen(tid);
    return;
  }
  if (known.begins) return BeginThread(tid, known, std::nullopt);
  PassOn(tid, known, stop);
}

}  // namespace jprof::itrace
