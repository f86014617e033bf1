// The subcommands of `jprof`. Each is a function that declares the options of its subcommand and
// returns what the subcommand does; main.cc has the table.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "common/result.h"

namespace jprof::cli {

using Words = std::vector<std::string>;

// Runs after the arguments have been parsed. Returns the exit status: 0 done, 1 the run failed, 2
// wrong use, or that of the command it ran. main prints an error as one line on stderr and exits
// with 2 for wrong use, else 1.
using Action = std::function<Result<int>()>;

// `sub` has its name and description. `command`: the words behind "--". Both outlive the action.
Action A2nCommand(CLI::App& sub, const Words& command);
Action CalibrateCommand(CLI::App& sub, const Words& command);
Action CallflowCommand(CLI::App& sub, const Words& command);
Action CalltreeCommand(CLI::App& sub, const Words& command);
Action CompareCommand(CLI::App& sub, const Words& command);
Action CpiCommand(CLI::App& sub, const Words& command);
Action CtlCommand(CLI::App& sub, const Words& command);
Action EventsCommand(CLI::App& sub, const Words& command);
Action InfoCommand(CLI::App& sub, const Words& command);
Action MetricsCommand(CLI::App& sub, const Words& command);
Action PttCommand(CLI::App& sub, const Words& command);
Action ReportCommand(CLI::App& sub, const Words& command);
Action ScsCommand(CLI::App& sub, const Words& command);
Action StatCommand(CLI::App& sub, const Words& command);
Action TprofCommand(CLI::App& sub, const Words& command);
Action TraceCommand(CLI::App& sub, const Words& command);

}  // namespace jprof::cli
