// Reports to the EventTrace when threads park: replaces the native method park of
// jdk.internal.misc.Unsafe, by which all of java.util.concurrent waits, by a function that calls
// the original one. The VM's environment is that of the trace.
#pragma once

#include <jvmti.h>

#include "common/result.h"
#include "jprof/agent/vm/jvmti_env.h"

namespace jprof::agent {

class Parks {
 public:
  // Adds the capability and a callback. The caller adds one that calls OnWait.
  static void Open(jvmtiEnv* jvmti, JvmtiEvents& events);
  // Replaces the method, and restores it. Call these on a Java thread in the live phase, when the
  // events are enabled, one call at a time. Begin fails if this VM has no such method.
  static Result<void> Begin(JNIEnv* jni);
  static void End(JNIEnv* jni);

  // Must be called when a thread begins Object.wait. Returns whether the wait is this class's own.
  static bool OnWait(jvmtiEnv* jvmti, JNIEnv* jni);
  // Returns the same at its end.
  static bool IsOwnWait();
};

}  // namespace jprof::agent
