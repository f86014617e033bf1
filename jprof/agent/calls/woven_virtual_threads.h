// Makes virtual threads count in trees of their own, beside those of their carriers.
//
// JprofCounter.HAS_CARRIERS, a constant of compiled code, is false while there can be no virtual
// thread: code that counted on one would then read at the address of its native thread, which is 0.
#pragma once

#include <jvmti.h>

#include "common/result.h"
#include "jprof/agent/calls/woven_classes.h"

namespace jprof::agent {

// Returns whether this VM has virtual threads, which are mounted on carriers.
bool HasCarrierThreads(JNIEnv* jni);

class WovenVirtualThreads {
 public:
  // `attached` is whether this is a running JVM, which may have virtual threads.
  WovenVirtualThreads(jvmtiEnv* jvmti, WovenClasses& classes, bool attached)
      : jvmti_(jvmti), classes_(classes), attached_(attached) {}

  // Decides whether HAS_CARRIERS is false at first although the VM has virtual threads.
  bool IgnoreCarriers(JNIEnv* jni);
  // Weaves the class of virtual threads, so that they announce what they do. `counter` is the class
  // JprofCounter. Call this before other classes are woven, because a virtual thread must not count
  // in its carrier's tree. Fails if the VM refuses.
  Result<void> Begin(JNIEnv* jni, jclass counter);
  // Sets HAS_CARRIERS, because the program is about to use virtual threads. Returns false if the VM
  // refuses: then code remains that would read at address 0 on a virtual thread.
  bool SetHasCarriers(JNIEnv* jni, jclass counter);

 private:
  jclass LoadedClass(JNIEnv* jni) const;
  bool IsInitialised(jclass type) const;
  bool MayExist(JNIEnv* jni) const;

  jvmtiEnv* const jvmti_;
  WovenClasses& classes_;
  const bool attached_;
  bool ignores_carriers_ = false;  // HAS_CARRIERS is false, but the VM has virtual threads
};

}  // namespace jprof::agent
