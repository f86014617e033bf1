// Provides the commands of `jprof ctl` for recordings of calls: start, stop, flush, status.
#pragma once

#include <string>

#include "common/result.h"
#include "jprof/agent/control.h"
#include "jprof/engine/session.h"
#include "options/agent_options.h"

namespace jprof::agent {

// Returns the handlers. `out` is the profile's directory, for status. All arguments must outlive
// the handlers.
Control::Handlers GateCommands(const options::AgentOptions& options, engine::Session& session,
                               const std::string& out);

// Returns the descriptor of the profile's folder. Fails if the program has closed it.
Result<int> FolderOf(engine::Session& session);

}  // namespace jprof::agent
