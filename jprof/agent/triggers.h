// Samples at events of the VM: allocations, contended monitors, waits, loaded classes. The
// callbacks run on the thread of the event and find this object as TheAgent().vm_triggers.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <initializer_list>
#include <span>

#include "common/result.h"
#include "jprof/agent/jvmti_env.h"
#include "jprof/agent/sampling.h"
#include "options/triggers.h"

namespace jprof::agent {

class VmTriggers {
 public:
  // All arguments must exist until the process ends. `with_class`: adds the class of the object as
  // a leaf of the stack.
  VmTriggers(std::span<const Trigger> triggers, Sampling& sampling, bool with_class)
      : triggers_(triggers), sampling_(sampling), with_class_(with_class) {}

  // Call in Agent_OnLoad: requests the capabilities of the triggers and adds the events. Error: the
  // VM does not support them, or (wrong use) the triggers exclude each other.
  Result<void> AddTo(JvmtiEvents& events, jvmtiEnv* jvmti) const;

 private:
  // One event of the VM, with its object or class; both may be null.
  struct Event {
    jvmtiEnv* jvmti;
    JNIEnv* jni;
    jobject object = nullptr;
    jclass type = nullptr;
  };

  static void JNICALL OnAllocation(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object,
                                   jclass type, jlong size);
  static void JNICALL OnContendedEnter(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread,
                                       jobject object);
  static void JNICALL OnContendedEntered(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread,
                                         jobject object);
  static void JNICALL OnWait(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object,
                             jlong timeout);
  static void JNICALL OnWaited(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object,
                               jboolean timed_out);
  static void JNICALL OnClassLoad(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass loaded);

  int IndexOf(TriggerKind kind) const;
  bool Has(std::initializer_list<TriggerKind> kinds) const;
  Result<void> SetHeapSampling(jvmtiEnv* jvmti) const;
  bool IsNthEvent(SampledThread& thread, int place) const;
  void Count(TriggerKind kind, const Event& event) const;
  void BeginTiming(TriggerKind kind) const;
  void EndTiming(TriggerKind kind, const Event& event) const;
  void Sample(int place, int64_t weight, const Event& event) const;

  std::span<const Trigger> triggers_;
  Sampling& sampling_;
  const bool with_class_;
};

// Call in Agent_OnLoad: enables the start and end events of virtual threads in a separate
// environment, so that the other events ignore virtual threads. Null: this JVM has no virtual
// threads (before JDK 21).
jvmtiEnv* ReportVirtualThreads(JavaVM* java);

}  // namespace jprof::agent
