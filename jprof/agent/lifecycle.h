// The life of the VM and of its threads: the events on which threads are recorded under their
// names, sampling begins, and the profile is completed. All callbacks run outside probes, on Java
// threads, and reach what they need through TheAgent().
#pragma once

#include "jprof/agent/jvmti_env.h"

namespace jprof::agent {

void AddLifecycleEvents(JvmtiEvents& events);

}  // namespace jprof::agent
