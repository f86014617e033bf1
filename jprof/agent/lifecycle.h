// Handles the events of the VM's start and end: begins what needs a running VM, and completes the
// profile. The callbacks run on Java threads and find the agent through InUse.
#pragma once

#include "jprof/agent/vm/jvmti_env.h"

namespace jprof::agent {

void AddLifecycleEvents(JvmtiEvents& events);

}  // namespace jprof::agent
