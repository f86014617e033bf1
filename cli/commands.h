// The subcommands of `jprof`, one function each: it adds its subcommand to the app and a callback
// that does the work. A callback reports a failure as one line on stderr and leaves its exit status
// in `exit_code` (0 done, 1 the run failed, 2 wrong use); main returns it. `exit_code` outlives the
// app.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace jprof::cli {

// callflow, calltree, trace; `command` outlives the app: what to run.
void AddRecordCommands(CLI::App& app, const std::vector<std::string>& command, int& exit_code);
void AddTprofCommand(CLI::App& app, const std::vector<std::string>& command,
                     int& exit_code);                     // tprof
void AddA2nCommand(CLI::App& app, int& exit_code);        // a2n
void AddReportCommand(CLI::App& app, int& exit_code);     // report
void AddCompareCommand(CLI::App& app, int& exit_code);    // compare
void AddInfoCommand(CLI::App& app, int& exit_code);       // info
void AddCalibrateCommand(CLI::App& app, int& exit_code);  // calibrate
void AddCtlCommand(CLI::App& app, int& exit_code);        // ctl
void AddStatCommand(CLI::App& app, const std::vector<std::string>& command,
                    int& exit_code);                                                         // stat
void AddPttCommand(CLI::App& app, const std::vector<std::string>& command, int& exit_code);  // ptt
void AddCpiCommand(CLI::App& app, const std::vector<std::string>& command, int& exit_code);  // cpi
void AddEventsCommand(CLI::App& app, int& exit_code);   // events
void AddMetricsCommand(CLI::App& app, int& exit_code);  // metrics

}  // namespace jprof::cli
