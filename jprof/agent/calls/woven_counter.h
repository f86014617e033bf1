// The event source of woven counting (docs/WOVEN.md): methods count themselves, by calls of
// java.lang.JprofCounter that the weaver inserts into classes when they are loaded or, if they are
// loaded already, by retransformation. Its parts:
//  - woven_classes.h: the VM's events, and which classes are woven and restored;
//  - retransformer.h: replaces loaded classes;
//  - woven_methods.h: which methods count;
//  - woven_virtual_threads.h: trees of their own for virtual threads;
//  - woven_natives.h: the native methods of JprofCounter;
//  - woven_statistics.h: what was woven and what was not.
//
// Each thread has its own current node, which it gets at its first event, in a word of the VM's
// thread. No other thread writes there.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "common/result.h"
#include "jprof/agent/calls/woven_classes.h"
#include "jprof/agent/calls/woven_virtual_threads.h"
#include "jprof/agent/vm/agent_use.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::agent {

// Fails if this VM, its Java version or this build of jprof lacks something that woven counting
// requires. The error states what is missing.
Result<void> CheckWovenCounter(int java_version);

// Fails if this VM writes an archive of its classes, which makes it crash if classes are woven.
Result<void> CheckNoArchive(const hotspot::VmStructs& structs);

class WovenCounter {
 public:
  // Requests the capabilities. Fails if this VM lacks what is required. `attached` is whether this
  // is a running JVM.
  static Result<std::unique_ptr<WovenCounter>> Open(jvmtiEnv* jvmti,
                                                    const hotspot::VmStructs& structs,
                                                    engine::Session& session, bool attached);
  // Adds the events of classes that are loaded. They stay disabled until Begin.
  void AddTo(JvmtiEvents& events);

  // Defines the counter class and weaves all classes that are loaded, and from then on those that
  // are being loaded. Then methods begin to count. A class that was not woven is named in the
  // profile. Call this in VMInit or in a running JVM.
  Result<void> Begin(JNIEnv* jni);
  // Ends the counting. Classes that are loaded from now on are left as they are, and the original
  // code of the others is restored. Methods that are running finish as they are, without counting.
  void End(JNIEnv* jni);

  engine::MethodSource& methods() { return classes_.methods(); }
  // Returns one line about what was woven so far.
  std::string Summary() const { return classes_.statistics().Summary(); }

  // The following functions serve the native methods of JprofCounter.
  //
  // Returns the counter, or null if methods do not count.
  static WovenCounter* InUse(const AgentUse& use);
  engine::Session& session() const { return session_; }
  // Returns the offset of the word of the current node in the VM's thread.
  uint64_t current_at() const { return current_at_; }
  bool IgnoreCarriers(JNIEnv* jni) { return virtual_threads_.IgnoreCarriers(jni); }
  // Prepares for virtual threads, or ends the counting with a message if the VM refuses.
  void ExpectVirtualThreads(JNIEnv* jni);

 private:
  static std::atomic<WovenCounter*> counting;  // between Begin and End

  WovenCounter(jvmtiEnv* jvmti, engine::Session& session, uint64_t current_at, bool attached);

  static void JNICALL OnClassFile(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject loader,
                                  const char* name, jobject domain, jint bytes,
                                  const unsigned char* data, jint* new_bytes,
                                  unsigned char** new_data);
  static void JNICALL OnClassLoad(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass loaded);

  Result<void> DefineClass(JNIEnv* jni);
  Result<void> BeginEvents();
  void SetRegion(JNIEnv* jni, uint64_t begin) const;

  jvmtiEnv* const jvmti_;
  engine::Session& session_;
  const uint64_t current_at_;
  WovenClasses classes_;
  WovenVirtualThreads virtual_threads_;
  jclass counter_ = nullptr;  // JprofCounter
};

}  // namespace jprof::agent
