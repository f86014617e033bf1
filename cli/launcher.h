// Runs a program in the foreground as if jprof were not there: same standard streams, same
// environment but for what Launch changes, same signals, its status handed on.
#pragma once

#include "cli/java_command.h"
#include "common/result.h"

namespace jprof::cli {

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

}  // namespace jprof::cli
