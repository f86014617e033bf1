// Provides the commands of `jprof ctl` for sampling: start, stop, reset, flush, status.
#pragma once

#include <string>

#include "jprof/agent/control.h"
#include "jprof/agent/sampling/sampling.h"

namespace jprof::agent {

// Returns the handlers. `out` is the profile's directory, for status. All arguments must
// outlive the handlers.
Control::Handlers SamplingCommands(const options::AgentOptions& options, Sampling& sampling,
                                   engine::Session& session, const std::string& out);

}  // namespace jprof::agent
