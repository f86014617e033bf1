#include "jprof/agent/lifecycle.h"

#include <string>
#include <vector>

#include "jprof/agent/agent.h"
#include "jprof/agent/vm/agent_use.h"
#include "jprof/agent/vm/native_threads.h"
#include "jprof/setup/print_message.h"

namespace jprof::agent {
namespace {

engine::Thread* ThreadIn(uintptr_t value) { return reinterpret_cast<engine::Thread*>(value); }
uintptr_t ValueOf(const engine::Thread* thread) { return reinterpret_cast<uintptr_t>(thread); }

// Attaches the thread before its first event, because its name is known here.
engine::Thread* AttachCurrent(Agent& agent) {
  if (agent.sampling != nullptr) agent.sampling->CurrentThread();
  return agent.session.AttachOnce();
}

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* jni, jthread java_thread) {
  const AgentUse use;
  if (!use) return;
  Agent& agent = *use;
  engine::Thread* thread = AttachCurrent(agent);
  if (thread == nullptr) return;
  if (agent.records_whole_threads()) thread->joined_late = false;
  agent.session.Name(thread, agent.java_threads.NameOf(java_thread));
  agent.java_threads.Keep(java_thread, ValueOf(thread));
  if (agent.sampling != nullptr) agent.sampling->AddThread(jni);
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv*, jthread java_thread) {
  const AgentUse use;
  if (!use) return;
  Agent& agent = *use;
  if (agent.sampling != nullptr) agent.sampling->RemoveThread();
  if (engine::Thread* thread = engine::current_thread) {
    agent.session.Name(thread,
                       agent.java_threads.NameOf(java_thread));  // the name may have changed
    agent.java_threads.Forget(java_thread);
    agent.session.DetachAtExit();
  }
  agent.session.End();
}

// Names threads that were recorded before JVMTI reported threads.
void NameEarlyThreads(Agent& agent, JNIEnv* jni) {
  const engine::Session::Hold hold(agent.session);
  std::vector<UnnamedThread> early;
  agent.session.ForEachThread([&](engine::Thread& thread) {
    if (!thread.named) early.push_back({KernelName(thread.record->tid), ValueOf(&thread)});
  });
  agent.java_threads.MatchEarly(jni, early, [&](uintptr_t thread, const std::string& name) {
    agent.session.Name(ThreadIn(thread), name);
  });
}

void JNICALL OnVmInit(jvmtiEnv*, JNIEnv* jni, jthread main) {
  const AgentUse use;
  if (!use) return;
  Agent& agent = *use;
  if (agent.plan.focus) StartFocus(jni, agent.jdk_packages);
  engine::Thread* thread = engine::current_thread;
  if (thread == nullptr && agent.sampling != nullptr) thread = agent.session.Attach();
  if (thread != nullptr) {
    agent.session.Name(thread, agent.java_threads.NameOf(main));
    agent.java_threads.Keep(main, ValueOf(thread));
  }
  NameEarlyThreads(agent, jni);
  if (agent.jvmti_probe != nullptr) agent.jvmti_probe->Start();
  if (const auto begun = agent.BeginWoven(jni); !begun)
    setup::PrintMessage(begun.error().message + "; no calls are counted");
  if (agent.sampling != nullptr) {
    agent.sampling->AddThread(jni);
    agent.sampling->Begin();
  }
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv* jni) {
  const AgentUse use;
  if (!use) return;
  Agent& agent = *use;
  agent.EndRecording(jni);
}

}  // namespace

void AddLifecycleEvents(JvmtiEvents& events) {
  using Slots = jvmtiEventCallbacks;
  events.Add(JVMTI_EVENT_VM_INIT, &Slots::VMInit, kGuarded<OnVmInit>);
  events.Add(JVMTI_EVENT_VM_DEATH, &Slots::VMDeath, kGuarded<OnVmDeath>);
  events.Add(JVMTI_EVENT_THREAD_START, &Slots::ThreadStart, kGuarded<OnThreadStart>);
  events.Add(JVMTI_EVENT_THREAD_END, &Slots::ThreadEnd, kGuarded<OnThreadEnd>);
}

}  // namespace jprof::agent
