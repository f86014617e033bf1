// Declares the subcommands of `jprof`. Each is a function that declares the options of its
// subcommand and returns what the subcommand does; main.cc has the table.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "common/result.h"

namespace jprof::cli {

using Command = std::vector<std::string>;

// Runs after the arguments have been parsed. Returns the exit status: 0 for success, 1 for a
// failure, 2 for wrong use, or the status of the command that it ran. main prints an error as one
// line on stderr and exits with 2 for wrong use, else 1.
using Action = std::function<Result<int>()>;

// These require a `sub` with its name and description, and in `command` the arguments after "--".
// Both must outlive the action.
Action A2nCommand(CLI::App& sub, const Command& command);
Action CalibrateCommand(CLI::App& sub, const Command& command);
Action CallflowCommand(CLI::App& sub, const Command& command);
Action CalltreeCommand(CLI::App& sub, const Command& command);
Action CombineCommand(CLI::App& sub, const Command& command);
Action CompareCommand(CLI::App& sub, const Command& command);
Action CompletionCommand(CLI::App& sub, const Command& command);
Action CpiCommand(CLI::App& sub, const Command& command);
Action CtlCommand(CLI::App& sub, const Command& command);
Action DetachCommand(CLI::App& sub, const Command& command);
Action DoctorCommand(CLI::App& sub, const Command& command);
Action EventsCommand(CLI::App& sub, const Command& command);
Action ExportCommand(CLI::App& sub, const Command& command);
Action InfoCommand(CLI::App& sub, const Command& command);
Action ItraceCommand(CLI::App& sub, const Command& command);
Action ManCommand(CLI::App& sub, const Command& command);
Action MergeCommand(CLI::App& sub, const Command& command);
Action MetricsCommand(CLI::App& sub, const Command& command);
Action ProfileCommand(CLI::App& sub, const Command& command);
Action PsCommand(CLI::App& sub, const Command& command);
Action PttCommand(CLI::App& sub, const Command& command);
Action PushCommand(CLI::App& sub, const Command& command);
Action ReportCommand(CLI::App& sub, const Command& command);
Action ScsCommand(CLI::App& sub, const Command& command);
Action StatCommand(CLI::App& sub, const Command& command);
Action TprofCommand(CLI::App& sub, const Command& command);
Action TraceCommand(CLI::App& sub, const Command& command);
Action ViewCommand(CLI::App& sub, const Command& command);

}  // namespace jprof::cli
