// From the command line of `jprof callflow|calltree|trace|scs` to the agent's options.
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
  agent::AgentOptions options;              // the mode is set before the command line is parsed
  std::vector<std::string> events;          // --event: NAME[=N] each, looked up by Understand
  std::string metrics;                      // --metrics, likewise
  std::string agent;                        // --agent; empty: not given
  bool force = false;                       // --force
  std::optional<agent::OptionError> wrong;  // the first value that is not valid
};

// Declares the options that the mode has. `typed` outlives `sub`.
void AddOptions(CLI::App& sub, RecordOptions& typed);

// The names in A+B or A,B.
std::vector<std::string> SplitMetrics(std::string_view text);

// Looks up the names of metrics and events on this machine, then checks and settles the options.
// `notes`: lines that the user should see about the metrics. Errors are kWrongUse and name the
// flag.
struct Understood {
  agent::AgentOptions options;
  std::vector<std::string> notes;
};
Result<Understood> Understand(const RecordOptions& typed);

}  // namespace jprof::cli
