// From the command line of `jprof callflow|calltree|trace|scs` to the agent's options. Pure but for
// metric names, which are looked up and opened on this machine.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "options/agent_options.h"

namespace jprof::cli {

// As typed; empty = not given.
struct RecordOptions {
  agent::Mode mode = agent::Mode::kCallflow;
  std::string out, metrics, threads, methods, focus, tree_memory, trace_mode, trace_memory, probe,
      agent;
  std::vector<std::string> events;  // scs: NAME[=N] each
  std::string rate, sample, timer, delay, duration;
  bool force_rate = false;
  bool objects = false, java_only = false, nostart = false;
  bool keep_intrinsics = false, fold_recursion = false;
  bool children = false;
  bool force = false;
};

// Declares the options that the mode has. `options` outlives `sub`.
void AddOptions(CLI::App& sub, RecordOptions& options);

// The names in A+B or A,B.
std::vector<std::string> SplitMetrics(std::string_view text);

// Without `out`. `notes`: lines the user should see about the metrics. Errors are exit code 2 and
// name the option.
struct Understood {
  agent::AgentOptions options;
  std::vector<std::string> notes;
};
Result<Understood> Understand(const RecordOptions& typed);

}  // namespace jprof::cli
