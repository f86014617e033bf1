// Traces the user instructions of threads of one process between two points, without hardware
// counters and exactly. docs/ITRACE.md describes what is counted.
//
//   auto tracer = Tracer::Seize(pid, options, {.seconds = 1}, events);
//   (*tracer)->Run();
//   for (const ThreadTotals& thread : (*tracer)->totals()) ...
//
// The thread that calls Seize must also call Run, because ptrace requires it. The caller handles
// signals that should end a trace (TraceEvents::OnTick returns true). SIGALRM is used during Run.
#pragma once

#include <memory>
#include <set>
#include <unordered_map>

#include "itrace/breakpoints.h"
#include "itrace/trace_events.h"
#include "itrace/traced_thread.h"

namespace jprof::itrace {

struct TraceRange {
  enum class Begin : uint8_t {
    kNow,    // where the thread is
    kExec,   // where the program begins that the process executes next
    kPlace,  // when a thread reaches one of begin_places
  };
  enum class End : uint8_t {
    kNever,   // with the thread, the duration, or on request
    kReturn,  // when the function that begins at the place returns
    kPlace,   // when the thread reaches one of end_places
  };
  Begin begin = Begin::kNow;
  End end = End::kNever;
  // Called repeatedly until the begin is reached, as code may be loaded later.
  std::function<std::vector<uint64_t>()> begin_places = {};
  std::function<std::vector<uint64_t>()> end_places = {};  // called when a trace begins
  uint64_t calls = 1;         // number of traces from begin to end; 0 if no limit
  uint64_t instructions = 0;  // ends a thread's trace exactly after so many; 0 if no limit
  double seconds = 0;         // after the begin; 0 if no limit
  uint32_t tid = 0;           // only this thread; if 0, any, or with kNow the first one
};

class Tracer {
 public:
  // Starts to trace the threads that the range needs. They continue to run.
  static Result<std::unique_ptr<Tracer>> Seize(pid_t pid, const TracerOptions& options,
                                               const TraceRange& range, TraceEvents& events);
  ~Tracer();
  Tracer(const Tracer&) = delete;

  // Sets the traps at the places where the trace begins, as far as they exist now.
  void SetBreakpoints();
  // Returns when the trace has ended. Threads of the process that still run then run untraced.
  Result<void> Run();
  // Finds where in the process a counter of each thread's instructions is kept (docs/ITRACE.md), as
  // its offset from the thread pointer. Called when a trace begins.
  std::function<std::optional<int64_t>()> find_thread_counter = {};
  // Finds the code that reads that counter and whose instructions are not added to it. Also called
  // when a trace begins.
  std::function<CodeSpan()> find_quiet_code = {};

  const std::vector<ThreadTotals>& totals() const { return totals_; }
  uint64_t calls() const { return calls_; }
  bool began() const { return began_; }
  // Returns the status of waitpid if the process ended during the trace.
  std::optional<int> process_status() const { return process_status_; }
  const std::vector<std::string>& notes() const { return context_.notes; }
  Engine engine() const { return context_.options.engine; }

 private:
  struct Known {
    std::unique_ptr<TracedThread> traced;
    bool interrupting = false;
    bool begins = false;   // as soon as it is stopped
    bool foreign = false;  // a process that shares the memory (vfork)
  };

  Tracer(Tracee tracee, const TracerOptions& options, const TraceRange& range, TraceEvents& events);

  Result<void> SeizeAll();
  Result<void> Add(pid_t tid);
  void Tick();
  void Dispatch(pid_t tid, const Stop& stop);
  void OnUnknown(pid_t tid, const Stop& stop);
  void OnThreadEnd(pid_t tid, const Stop& stop);
  void OnFork(pid_t tid, Known& known, const Stop& stop);
  void OnExec(pid_t tid);
  void OnEventStop(pid_t tid, Known& known, const Stop& stop);
  void OnFreeSignal(pid_t tid, Known& known, const Stop& stop);
  void OnBreakpoint(pid_t tid, Known& known, Registers& registers);
  void StepOver(pid_t tid, Registers& registers);
  void BeginThread(pid_t tid, Known& known, std::optional<Frame> frame);
  void PassOn(pid_t tid, Known& known, const Stop& stop);
  void AfterStop(pid_t tid);
  void EndAll();
  void Release(pid_t tid, int signal = 0);
  bool waiting() const;
  bool follows() const;

  TraceContext context_;
  const TraceRange range_;
  std::unordered_map<pid_t, Known> threads_;
  std::set<pid_t> forked_, early_;  // children reported by their parent, or stopped before that
  Breakpoints breakpoints_;
  std::vector<ThreadTotals> totals_;
  std::optional<int> process_status_;
  uint64_t calls_ = 0;
  uint64_t end_ns_ = ~uint64_t{0};
  bool began_ = false, ending_ = false;
  bool exec_awaited_ = false;
  uint64_t entry_ = 0;  // of an executed program; its libraries are loaded there
};

}  // namespace jprof::itrace
