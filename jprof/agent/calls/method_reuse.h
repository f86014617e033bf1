// Empties the threads' caches of VM methods when the VM may have reused the memory of a method.
// Collections that unload classes and redefinition free methods, and classes that are prepared
// later reuse their addresses. So the caches are emptied when a class is prepared after either. ZGC
// and Shenandoah report a collection before they unload its classes: with them the caches are
// emptied whenever a class is prepared after the first collection.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>

#include "jprof/agent/vm/hotspot_vm.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/engine/session.h"

namespace jprof::agent {

// Callbacks find this object through InUse, on Java threads and on threads of the VM.
class MethodReuse {
 public:
  explicit MethodReuse(engine::Session& session) : session_(session) {}

  // Requests the capability, adds the events, and hooks the redefinition of classes, which has no
  // event: all agents call it through one function table. `vm` is null if the VM's structures are
  // not known.
  void AddTo(JvmtiEvents& events, jvmtiEnv* jvmti, const HotspotVm* vm);
  // Restores the table. Calls of the hooks may still be in progress; they do nothing once InUse
  // finds no agent.
  void End(jvmtiEnv* jvmti);

 private:
  static void JNICALL OnCollection(jvmtiEnv* jvmti);
  static void JNICALL OnClassPrepare(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass prepared);
  static jvmtiError JNICALL OnRedefine(jvmtiEnv* jvmti, jint count,
                                       const jvmtiClassDefinition* classes);
  static jvmtiError JNICALL OnRetransform(jvmtiEnv* jvmti, jint count, const jclass* classes);
  static void Hook(jvmtiInterface_1& table);
  static void Forget();

  engine::Session& session_;
  bool unloads_later_ = false;       // classes are unloaded after the event, while the program runs
  std::atomic<uint64_t> epoch_ = 0;  // number of collections and redefinitions
  std::atomic<uint64_t> forgotten_epoch_ = 0;  // epoch at the last ForgetMethods
};

}  // namespace jprof::agent
