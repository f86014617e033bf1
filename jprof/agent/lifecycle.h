// What the VM tells us besides method events: threads that begin and end, classes that may have
// been unloaded or redefined, the end of the program. All callbacks run outside probes, on Java
// threads.
#pragma once

#include <jvmti.h>

#include "jprof/engine/session.h"

namespace jprof::agent {

// In Agent_OnLoad. `jvmti_probe`: method events are switched on when the VM is up.
void PrepareLifecycle(jvmtiEnv* jvmti, engine::Session* session, bool jvmti_probe,
                      jvmtiEventCallbacks* callbacks);
// After the callbacks are set: switches their events on.
void StartLifecycle(jvmtiEnv* jvmti);

}  // namespace jprof::agent
