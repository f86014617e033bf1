// Declares the subcommands of `jprof`. Each is a function that declares the options of its
// subcommand and returns what the subcommand does; main.cc has the table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/shared/command_line.h"
#include "common/result.h"

namespace jprof::cli {

using Command = std::vector<std::string>;

// Runs after the arguments have been parsed. Returns the exit status: 0 for success, 1 for a
// failure, 2 for wrong use, or the status of the command that it ran. main prints an error as one
// line on stderr and exits with 2 for wrong use, else 1.
using Action = std::function<Result<int>()>;

// These require a `line` with its name and description, and in `command` the arguments after "--",
// which must outlive the action.
Action A2nCommand(CommandLine line, const Command& command);
Action CalibrateCommand(CommandLine line, const Command& command);
Action CallflowCommand(CommandLine line, const Command& command);
Action CalltreeCommand(CommandLine line, const Command& command);
Action CombineCommand(CommandLine line, const Command& command);
Action CompareCommand(CommandLine line, const Command& command);
Action CompletionCommand(CommandLine line, const Command& command);
Action CpiCommand(CommandLine line, const Command& command);
Action CtlCommand(CommandLine line, const Command& command);
Action DetachCommand(CommandLine line, const Command& command);
Action DoctorCommand(CommandLine line, const Command& command);
Action EventsCommand(CommandLine line, const Command& command);
Action ExportCommand(CommandLine line, const Command& command);
Action FleetCommand(CommandLine line, const Command& command);
Action HeapCommand(CommandLine line, const Command& command);
Action ImportCommand(CommandLine line, const Command& command);
Action InfoCommand(CommandLine line, const Command& command);
Action ItraceCommand(CommandLine line, const Command& command);
Action LocksCommand(CommandLine line, const Command& command);
Action ManCommand(CommandLine line, const Command& command);
Action McpCommand(CommandLine line, const Command& command);
Action MergeCommand(CommandLine line, const Command& command);
Action MetricsCommand(CommandLine line, const Command& command);
Action MsrCommand(CommandLine line, const Command& command);
Action ObjectsCommand(CommandLine line, const Command& command);
Action OptimizeCommand(CommandLine line, const Command& command);
Action ProfileCommand(CommandLine line, const Command& command);
Action PsCommand(CommandLine line, const Command& command);
Action PttCommand(CommandLine line, const Command& command);
Action PushCommand(CommandLine line, const Command& command);
Action ReportCommand(CommandLine line, const Command& command);
Action ScaleCommand(CommandLine line, const Command& command);
Action ScsCommand(CommandLine line, const Command& command);
Action StatCommand(CommandLine line, const Command& command);
Action SystemTraceCommand(CommandLine line, const Command& command);
Action TimelineCommand(CommandLine line, const Command& command);
Action TprofCommand(CommandLine line, const Command& command);
Action TraceCommand(CommandLine line, const Command& command);
Action ViewCommand(CommandLine line, const Command& command);

}  // namespace jprof::cli
