// Converts the command line of `jprof callflow|calltree|trace|scs` to the agent's options.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "options/agent_options.h"

namespace jprof::cli {

struct RecordOptions {
  options::AgentOptions options;              // the mode is set before the command line is parsed
  std::vector<std::string> events;            // NAME[=N] of --event; Resolve looks the names up
  std::string metrics;                        // --metrics; also looked up by Resolve
  std::string agent;                          // --agent; empty if not given
  bool force = false;                         // --force
  std::optional<options::OptionError> error;  // the first invalid value
};

// Declares the options of the mode. `typed` must outlive `sub`.
void AddOptions(CLI::App& sub, RecordOptions& typed);

// Declares an option of the table by its flag, for a command that makes several recordings. `help`
// replaces that of the table unless it is empty.
void AddOption(CLI::App& sub, std::string_view flag, RecordOptions& typed, std::string help = "");

// Declares --force and --agent, which are options of the command and not of the agent.
void AddCommandOptions(CLI::App& sub, RecordOptions& typed);

// Splits A+B or A,B into names.
std::vector<std::string> SplitMetrics(std::string_view text);

// Looks up the names of metrics and events on this machine, then checks and finalizes the
// options. The notes are messages for the user about the metrics. Fails with kWrongUse and a
// message that names the flag.
struct ResolvedOptions {
  bool traced = false;  // instructions are counted by tracing the program
  options::AgentOptions options;
  std::vector<std::string> notes;
};
Result<ResolvedOptions> Resolve(const RecordOptions& typed);

}  // namespace jprof::cli
