#include "jprof/agent/lifecycle.h"

#include <span>

#include "jprof/agent/agent.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/setup/print_message.h"

namespace jprof::agent {
namespace {

void JNICALL OnVmInit(jvmtiEnv* jvmti, JNIEnv* jni, jthread main) {
  const InUse<Agent> agent;
  if (!agent) return;
  const ExistingThread thread = CurrentJavaThread(jvmti, main);
  if (const auto begun = agent->Begin(jni, std::span(&thread, 1)); !begun)
    setup::PrintMessage(begun.error().message + "; no calls are counted");
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv* jni) {
  if (const InUse<Agent> agent; agent) agent->End(jni);
}

}  // namespace

void AddLifecycleEvents(JvmtiEvents& events) {
  using Slots = jvmtiEventCallbacks;
  events.Add(JVMTI_EVENT_VM_INIT, &Slots::VMInit, kGuarded<OnVmInit>);
  events.Add(JVMTI_EVENT_VM_DEATH, &Slots::VMDeath, kGuarded<OnVmDeath>);
}

}  // namespace jprof::agent
