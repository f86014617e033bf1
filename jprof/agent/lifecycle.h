// What the VM tells us besides method events: threads that begin and end, classes that may have
// been unloaded or redefined, the end of the program. All callbacks run outside probes, on Java
// threads.
#pragma once

#include <jvmti.h>

#include "jprof/engine/session.h"

namespace jprof::agent {

class Control;
class Sampling;

struct Sources {
  bool jvmti_probe = false;                // method events are switched on when the VM is up
  Sampling* sampling = nullptr;            // threads are sampled from the VM's start on
  Control* control = nullptr;              // is stopped with the VM
  void (*at_vm_start)(JNIEnv*) = nullptr;  // first of all when the VM is up
};

// In Agent_OnLoad.
void PrepareLifecycle(jvmtiEnv* jvmti, engine::Session* session, Sources sources,
                      jvmtiEventCallbacks* callbacks);
// After the callbacks are set: switches their events on.
void StartLifecycle(jvmtiEnv* jvmti);

}  // namespace jprof::agent
