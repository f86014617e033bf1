// For the program Unprobed: methods that are compiled from now on have no probes, as with a
// compiler that does not know them. As an agent: the VM refuses to report compiled code.
#include <jvmti.h>

#include "jprof/hotspot/vm/vm.h"

namespace {

jvmtiError(JNICALL* set_event)(jvmtiEnv*, jvmtiEventMode, jvmtiEvent, jthread, ...) = nullptr;

jvmtiError JNICALL SetEvent(jvmtiEnv* env, jvmtiEventMode mode, jvmtiEvent event, jthread thread,
                            ...) {
  if (event == JVMTI_EVENT_COMPILED_METHOD_LOAD) return JVMTI_ERROR_INTERNAL;
  return set_event(env, mode, event, thread);
}

}  // namespace

// All environments of a VM share the table of functions.
extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* java, char*, void*) {
  jvmtiEnv* env = nullptr;
  if (java->GetEnv(reinterpret_cast<void**>(&env), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  auto& functions = const_cast<jvmtiInterface_1_&>(*env->functions);
  set_event = functions.SetEventNotificationMode;
  functions.SetEventNotificationMode = SetEvent;
  return JNI_OK;
}

extern "C" JNIEXPORT void JNICALL Java_Unprobed_removeProbes(JNIEnv*, jclass) {
  const auto structs = jprof::hotspot::VmStructs::Load();
  if (!structs) return;
  for (const char* name : {"DTraceMethodProbes", "ExtendedDTraceProbes"})
    if (uint8_t* const flag = jprof::hotspot::Vm::Flag(*structs, name)) *flag = 0;
}
