// Samples at what the VM tells of: allocations, monitors, classes. The callbacks run on the thread
// they are about.
#pragma once

#include <jvmti.h>

#include "common/result.h"
#include "jprof/agent/sampling.h"

namespace jprof::agent {

// In Agent_OnLoad: asks for what the triggers need and names the callbacks. Error: the VM does not
// offer it.
Result<void> PrepareTriggers(jvmtiEnv* jvmti, Sampling* sampling, bool object_info,
                             jvmtiEventCallbacks* callbacks);
// In Agent_OnLoad: the VM tells of virtual threads that begin and end, in an environment of its
// own. Before 21: nothing.
void NameVirtualThreads(JavaVM* java);
// After the callbacks are set.
void EnableTriggers(jvmtiEnv* jvmti);

}  // namespace jprof::agent
