// Handles the events of the VM's and its threads' start and end: names the recorded threads, starts
// sampling and completes the profile. All callbacks run outside probes, on Java threads, and use
// TheAgent().
#pragma once

#include "jprof/agent/jvmti_env.h"

namespace jprof::agent {

void AddLifecycleEvents(JvmtiEvents& events);

}  // namespace jprof::agent
