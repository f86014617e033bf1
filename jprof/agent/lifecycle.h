// Handles the start and end events of the VM and of its threads: names the recorded threads, starts
// sampling and completes the profile. All callbacks run outside probes, on Java threads, and find
// the agent through AgentUse.
#pragma once

#include "jprof/agent/vm/jvmti_env.h"

namespace jprof::agent {

void AddLifecycleEvents(JvmtiEvents& events);

}  // namespace jprof::agent
