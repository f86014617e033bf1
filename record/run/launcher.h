// Runs a program in the foreground as without jprof:
// - the same standard streams, unless the caller gives it others,
// - the same environment, except for what Launch changes,
// - the same signals,
// - its exit status is the result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/fd.h"
#include "common/result.h"
#include "record/run/java_command.h"

namespace jprof::record {

struct Outcome {
  int status = 0;  // the program's exit status; 0 if a signal ended it
  int signal = 0;  // the signal that ended it; 0 if it exited
  // Only Run sets these.
  double wall_seconds = 0;
  double cpu_seconds = 0;    // of the program and the children that it waited for
  uint64_t page_faults = 0;  // of the same
  // Holds the SIGINT, SIGTERM or SIGHUP that this process received meanwhile, 0 if there was none.
  // A signal that this process ignores does not count.
  int interruption = 0;

  // Returns the status as a shell reports it: 128 + signal.
  int ExitCode() const { return signal != 0 ? 128 + signal : status; }
};

// Converts a `status` of waitpid, of a program that has ended.
Outcome OutcomeOf(int status);

// The descriptors that become a program's standard streams. A negative one is that of this process.
struct Streams {
  int input = -1;
  int output = -1;
};

// A function that is called with the pid of a program at its start and every tenth of a
// second while it runs.
using ProcessObserver = std::function<void(uint32_t pid)>;

// Starts the program and waits for its end, calling `observe` meanwhile if there is one. SIGINT,
// SIGTERM, SIGHUP and SIGQUIT sent to this process do not end it and are passed on, except for
// those of the terminal, which sends them to the program itself. Fails with kWrongUse if the
// program could not be started.
Result<Outcome> Run(const Launch& launch, const Streams& streams = {},
                    const ProcessObserver& observe = {});

// A forked process that waits to execute the program, so that counters can be attached first.
// Streams, environment and status are as for Run; the caller handles signals to this process. The
// destructor ends a process that was not released.
class HeldProgram {
 public:
  static Result<HeldProgram> Start(const Launch& launch);
  HeldProgram(HeldProgram&& other) noexcept;
  ~HeldProgram();

  int pid() const { return pid_; }
  Result<void> Release();  // fails with kWrongUse if it cannot be executed
  // Releases a program that this process traces, and leaves it to the tracer to wait for its end.
  Result<void> ReleaseTraced();
  std::optional<Outcome> Ended();         // does not wait
  void AwaitEnd(int milliseconds) const;  // returns early for a signal to this process
  void Signal(int number) const;

 private:
  HeldProgram(std::string name, int pid, Fd go, Fd report);

  std::string name_;
  int pid_;
  Fd go_;      // a byte releases the program; none after that
  Fd report_;  // the program reports here why it could not be executed
  bool reaped_ = false;
};

}  // namespace jprof::record
