// What a recording consists of, decided from the options alone, before anything is opened. Pure.
#pragma once

#include "common/result.h"
#include "jprof/engine/recording.h"
#include "jprof/engine/session.h"
#include "options/agent_options.h"

namespace jprof::agent {

struct Plan {
  engine::RecordingKind kind = engine::RecordingKind::kTimeTree;  // of modes with entries and exits
  engine::SessionOptions session;  // all but files.directory and method_filter
};

// Error (wrong use): a metric that the agent does not know, more than 8, or counters in a trace.
Result<Plan> MakePlan(const AgentOptions& options);

}  // namespace jprof::agent
