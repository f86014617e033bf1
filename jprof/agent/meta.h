// The profile's meta.json: who was profiled, on what, how. docs/PROFILE_FORMAT.md lists the fields.
#pragma once

#include <jvmti.h>

#include <string>

#include "jprof/agent/agent_options.h"
#include "jprof/engine/session.h"

namespace jprof::agent {

struct ProbeFacts {
  std::string kind;      // "hotspot", "jvmti" or "none"
  std::string note;      // why not the better one
  std::string build_id;  // of libjvm.so
};

// `session`: null if no calls are recorded.
std::string MetaJson(jvmtiEnv* jvmti, const AgentOptions& options, const engine::Session* session,
                     const ProbeFacts& probe);

}  // namespace jprof::agent
