// Turns what a user typed, on a command line and in JPROFOPTS, into checked options of the agent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "options/agent_options.h"

namespace jprof::record {

// Holds the command line of `jprof callflow|calltree|trace|scs|profile`.
struct TypedOptions {
  options::AgentOptions options;              // the mode is set before the command line is parsed
  std::vector<std::string> events;            // NAME[=N] of --event; Resolve looks the names up
  std::string metrics;                        // --metrics; also looked up by Resolve
  std::string agent;                          // --agent; empty if not given
  bool force = false;                         // --force
  std::optional<std::string> series, rotate;  // --series, --rotate
  uint64_t keep = 0;                          // --keep; 0 if not given
  std::optional<options::OptionError> error;  // the first invalid value
};

struct ResolvedOptions {
  bool traced = false;            // instructions are counted by tracing the program
  options::AgentOptions options;  // checked and finalized
  std::vector<std::string> notes;
};

// Looks up the names of metrics and events on this machine, and applies `environment`, the value of
// JPROFOPTS, to the result. The notes are messages for the user about the metrics. Fails with
// kWrongUse and a message that names the flag, or JPROFOPTS and its option.
Result<ResolvedOptions> Resolve(const TypedOptions& typed, std::string_view environment);

}  // namespace jprof::record
