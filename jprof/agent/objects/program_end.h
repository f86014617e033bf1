// Finds out when the program ends while the VM is still able to collect garbage: at VMDeath some
// collectors have ended their threads already. A thread without code is registered as a shutdown
// hook, and its start is reported by JVMTI before its end is awaited.
#pragma once

#include <jvmti.h>

namespace jprof::agent {

class ProgramEnd {
 public:
  // Registers the hook. Requires the live phase. Does nothing if the JVM refuses.
  void Begin(JNIEnv* jni);
  // Returns whether a thread that starts is that of the hook.
  bool IsNow(JNIEnv* jni, jthread started) const {
    return thread_ != nullptr && jni->IsSameObject(started, thread_);
  }
  // Removes the hook.
  void End(JNIEnv* jni);

 private:
  bool CallRuntime(JNIEnv* jni, const char* method, const char* signature) const;

  jobject thread_ = nullptr;  // a global reference
};

// Makes a thread of this name, which is not started. Returns null if there is no memory.
jthread NewThread(JNIEnv* jni, const char* name);

}  // namespace jprof::agent
