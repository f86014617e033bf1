// Records a JVM that runs: `jprof scs --pid PID` and the other recording commands.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "cli/shared/commands.h"
#include "cli/shared/record_options.h"
#include "common/result.h"

namespace jprof::cli {

struct AttachArguments {
  std::string pid;        // --pid; empty if not given
  uint64_t duration = 0;  // seconds of --duration in commands that have none for the agent
};

// Declares --pid, and --duration where the mode has no such option. `arguments` must outlive `sub`.
void AddAttachOptions(CLI::App& sub, options::Mode mode, AttachArguments& arguments);

// Fails with kWrongUse if options exclude each other. Call also without --pid.
Result<void> CheckAttach(const CLI::App& sub, const RecordOptions& typed,
                         const AttachArguments& arguments, const Command& command);

// Attaches the agent, waits, detaches it and prints the summary of the profile. Returns the exit
// status, which is 2 if a filter matched nothing.
Result<int> RecordRunning(const RecordOptions& typed, const AttachArguments& arguments);

}  // namespace jprof::cli
