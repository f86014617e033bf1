#include "itrace/tracer.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "common/errno_text.h"
#include "common/monotonic.h"
#include "itrace/ticks.h"

namespace jprof::itrace {
namespace {

uint64_t Now() { return static_cast<uint64_t>(MonotonicNanos()); }

}  // namespace

Tracer::Tracer(Tracee tracee, const TracerOptions& options, const TraceRange& range,
               TraceEvents& events)
    : context_{.tracee = std::move(tracee),
               .options = options,
               .events = events,
               .limit = range.instructions},
      range_(range) {}

// Detaches the threads of a trace that was not run to its end.
Tracer::~Tracer() {
  if (threads_.empty()) return;
  breakpoints_.Remove(context_.tracee);
  for (auto& [tid, known] : threads_) {
    Stop stop;
    if (!Interrupt(tid) || !AwaitStop(tid, stop) || stop.ended()) continue;
    // The stop may be that of a signal which came first: the thread gets it.
    const bool signal = stop.event() == 0 && stop.signal() != SIGTRAP;
    itrace::Detach(tid, signal ? stop.signal() : 0);
  }
}

Result<std::unique_ptr<Tracer>> Tracer::Seize(pid_t pid, const TracerOptions& options,
                                              const TraceRange& range, TraceEvents& events) {
  auto tracee = Tracee::Open(pid);
  if (!tracee) {
    if (!procfs::Exists(static_cast<uint32_t>(pid))) return Fail("there is no process {}", pid);
    return Fail("{}: tracing needs the same user, or root or CAP_SYS_PTRACE",
                tracee.error().message);
  }
  std::unique_ptr<Tracer> tracer(new Tracer(*std::move(tracee), options, range, events));
  tracer->context_.options.engine =
      options.engine == Engine::kAuto ? Engine::kBlock : options.engine;
#if !defined(__x86_64__)
  tracer->context_.options.engine = Engine::kStep;
#endif
  if (auto seized = tracer->SeizeAll(); !seized) return std::unexpected(seized.error());
  return tracer;
}

bool Tracer::follows() const {
  return context_.options.all_threads || range_.begin == TraceRange::Begin::kPlace;
}
bool Tracer::waiting() const {
  return range_.begin == TraceRange::Begin::kPlace && !ending_ && !exec_awaited_ &&
         (range_.calls == 0 || calls_ < range_.calls);
}

Result<void> Tracer::Add(pid_t tid) {
  if (threads_.contains(tid)) return {};
  if (auto seized = SeizeThread(tid, follows()); !seized) return seized;
  threads_[tid].traced = std::make_unique<TracedThread>(context_, tid);
  return {};
}

Result<void> Tracer::SeizeAll() {
  const pid_t pid = context_.tracee.pid();
  const pid_t first = range_.tid != 0 ? static_cast<pid_t>(range_.tid) : pid;
  if (auto added = Add(first); !added) return added;
  if (!follows()) return {};
  // Threads may start threads meanwhile; those of traced ones are traced.
  for (bool more = true; more;) {
    more = false;
    for (const uint32_t tid : procfs::Threads(static_cast<uint32_t>(pid))) {
      if (threads_.contains(static_cast<pid_t>(tid))) continue;
      more |= Add(static_cast<pid_t>(tid)).has_value();
    }
  }
  return {};
}

Result<void> Tracer::Run() {
  const Ticks ticks;
  exec_awaited_ = range_.begin == TraceRange::Begin::kExec;
  if (range_.begin == TraceRange::Begin::kNow) {
    for (auto& [tid, known] : threads_) {
      known.begins = known.interrupting = true;
      Interrupt(tid);
    }
  }
  SetBreakpoints();
  while (!threads_.empty()) {
    Stop stop;
    const pid_t tid = waitpid(-1, &stop.status, __WALL);
    if (tid > 0) {
      Dispatch(tid, stop);
    } else if (errno != EINTR) {
      break;
    }
    if (Ticks::Passed()) Tick();
  }
  return {};
}

void Tracer::Tick() {
  uint64_t instructions = 0;
  for (const ThreadTotals& totals : totals_) instructions += totals.instructions;
  for (const auto& [tid, known] : threads_) instructions += known.traced->totals().instructions;
  if (context_.events.OnTick(instructions, began_) || Now() >= end_ns_) EndAll();
  SetBreakpoints();
}

// Sets breakpoints between two calls, and repeatedly until one begins, because a method may be
// compiled anew.
void Tracer::SetBreakpoints() {
  if (!waiting()) return;
  const bool tracing = std::ranges::any_of(
      threads_, [](const auto& entry) { return entry.second.traced->active(); });
  if (tracing || !range_.begin_places) return;
  std::vector<uint64_t> places = range_.begin_places();
  if (entry_ != 0) places.push_back(entry_);
  breakpoints_.Set(context_.tracee, places);
}

void Tracer::Dispatch(pid_t tid, const Stop& stop) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return OnUnknown(tid, stop);
  Known& known = found->second;
  if (stop.ended()) return OnThreadEnd(tid, stop);
  switch (stop.event()) {
    case PTRACE_EVENT_EXIT:
      known.traced->Exiting();
      Continue(tid);
      return;
    case PTRACE_EVENT_EXEC:
      return OnExec(tid);
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
      return OnFork(tid, known, stop);
    case PTRACE_EVENT_STOP:
      return OnEventStop(tid, known, stop);
    default:
      return PassOn(tid, known, stop);
  }
}

void Tracer::PassOn(pid_t tid, Known& known, const Stop& stop) {
  if (!known.traced->active()) return OnFreeSignal(tid, known, stop);
  known.traced->Handle(stop);
  AfterStop(tid);
}

void Tracer::OnFreeSignal(pid_t tid, Known& known, const Stop& stop) {
  if (stop.event() != 0) {
    Continue(tid);
    return;
  }
  Registers registers;
  const bool trap =
      stop.signal() == SIGTRAP && GetRegisters(tid, registers) && breakpoints_.Hit(registers) != 0;
  if (trap) return OnBreakpoint(tid, known, registers);
  if (ending_) return Release(tid, stop.signal());
  Continue(tid, stop.signal());
}

void Tracer::OnBreakpoint(pid_t tid, Known& known, Registers& registers) {
  registers.set_pc(breakpoints_.Hit(registers));
  SetRegisters(tid, registers);
  if (ending_) return Release(tid);
  if (!breakpoints_.any()) {  // another thread was faster
    Continue(tid);
    return;
  }
  const bool only_entry = registers.pc() == entry_;
  if (only_entry) entry_ = 0;
  if (only_entry || known.foreign || (range_.tid != 0 && static_cast<uint32_t>(tid) != range_.tid))
    return StepOver(tid, registers);
  breakpoints_.Remove(context_.tracee);
  std::optional<Frame> frame;
  if (range_.end == TraceRange::End::kReturn) {
    frame = Frame{.sp = registers.sp()};
#if defined(__x86_64__)
    const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&frame->return_address), 8);
    context_.tracee.Read(registers.sp(), bytes);
#else
    frame->return_address = registers.raw.regs[30];
    --frame->sp;  // a return does not change it
#endif
  }
  BeginThread(tid, known, frame);
}

// Makes a thread that is not to be traced continue at a breakpoint.
void Tracer::StepOver(pid_t tid, Registers& registers) {
  breakpoints_.Remove(context_.tracee);
  Stop stop;
  const uint64_t place = registers.pc();
  for (int i = 0; i < 10 && GetRegisters(tid, registers) && registers.pc() == place; ++i) {
    if (!SingleStep(tid) || !AwaitStop(tid, stop) || stop.ended()) return OnThreadEnd(tid, stop);
  }
  SetBreakpoints();
  Continue(tid);
}

void Tracer::BeginThread(pid_t tid, Known& known, std::optional<Frame> frame) {
  known.begins = false;
  if (!began_) {
    if (find_thread_counter) {
      const auto offset = find_thread_counter();
      if (offset && *offset == static_cast<int32_t>(*offset))
        context_.thread_counter = static_cast<int32_t>(*offset);
    }
    if (find_quiet_code) context_.quiet = find_quiet_code();
    if (range_.seconds > 0) end_ns_ = Now() + static_cast<uint64_t>(range_.seconds * 1e9);
  }
  began_ = true;
  if (range_.end == TraceRange::End::kPlace && range_.end_places)
    context_.end_places = range_.end_places();
  if (threads_.size() > 1 || context_.options.all_threads) context_.options.pin = false;
  known.traced->Begin(frame);
  AfterStop(tid);
}

// Ends a traced thread that is parked, because it has reached its end.
void Tracer::AfterStop(pid_t tid) {
  const auto found = threads_.find(tid);
  if (found == threads_.end() || !found->second.traced->parked()) return;
  ++calls_;
  found->second.traced->End(!waiting());
  if (waiting()) {
    SetBreakpoints();
    Continue(tid);
    return;
  }
  const bool others = context_.options.all_threads && range_.end == TraceRange::End::kNever;
  Release(tid);
  if (!others) EndAll();
}

void Tracer::EndAll() {
  if (ending_) return;
  ending_ = true;
  breakpoints_.Remove(context_.tracee);
  for (auto& [tid, known] : threads_) {
    known.interrupting = true;
    Interrupt(tid);
  }
}

// Lets a thread continue untraced. It is stopped at an original address.
void Tracer::Release(pid_t tid, int signal) {
  Known& known = threads_.at(tid);
  known.traced->End(true);
  if (const ThreadTotals totals = known.traced->totals(); totals.traced_ns != 0)
    totals_.push_back(totals);
  itrace::Detach(tid, signal);
  threads_.erase(tid);
}

}  // namespace jprof::itrace
