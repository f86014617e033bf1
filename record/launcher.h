// Runs a program in the foreground as if jprof were not there: same standard streams, same
// environment but for what Launch changes, same signals, its status handed on.
#pragma once

#include <optional>
#include <string>

#include "common/result.h"
#include "record/java_command.h"

namespace jprof::record {

struct Outcome {
  int status = 0;  // the program's exit status; 0 if a signal ended it
  int signal = 0;  // what ended it, 0 = it exited

  // As a shell has it: 128 + signal.
  int ExitCode() const { return signal != 0 ? 128 + signal : status; }
};

// Starts it and waits for its end. SIGINT, SIGTERM, SIGHUP and SIGQUIT sent to us are passed on
// (not those of the terminal: it sends them to the program itself) and do not end us. Error, exit
// code 2: it could not be started.
Result<Outcome> Run(const Launch& launch);

// A program that has been forked and waits to be executed, so that it can be attached to first. Its
// streams, environment and status as for Run; signals to us are the caller's business. Release or
// the destructor ends the wait (the destructor: without executing anything).
class HeldProgram {
 public:
  static Result<HeldProgram> Start(const Launch& launch);
  HeldProgram(HeldProgram&& other) noexcept;
  HeldProgram(const HeldProgram&) = delete;
  ~HeldProgram();

  int pid() const { return pid_; }
  Result<void> Release();                 // error, exit code 2: it could not be executed
  std::optional<Outcome> Ended();         // does not wait
  void AwaitEnd(int milliseconds) const;  // or a signal to us
  void Signal(int number) const;

 private:
  HeldProgram(std::string name, int pid, int go, int report);
  std::string name_;
  int pid_ = 0, go_ = -1, report_ = -1;
  bool reaped_ = false;
};

}  // namespace jprof::record
