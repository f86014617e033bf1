#include "jprof/agent/calls/method_reuse.h"

#include "jprof/agent/vm/in_use.h"

namespace jprof::agent {
namespace {

// Returns the table for writing. It is declared const only for its callers.
jvmtiInterface_1& TableOf(jvmtiEnv* jvmti) {
  return *const_cast<jvmtiInterface_1*>(jvmti->functions);
}

// The VM's own functions are set once, because a call of a hook may be in progress when the agent
// is detached.
decltype(jvmtiInterface_1::RedefineClasses) redefine = nullptr;
decltype(jvmtiInterface_1::RetransformClasses) retransform = nullptr;

}  // namespace

void MethodReuse::AddTo(JvmtiEvents& events, jvmtiEnv* jvmti, const HotspotVm* vm) {
  unloads_later_ = vm != nullptr && (hotspot::Vm::IsOn(vm->structs, "UseZGC") ||
                                     hotspot::Vm::IsOn(vm->structs, "UseShenandoahGC"));
  jvmtiCapabilities wanted = {};
  wanted.can_generate_garbage_collection_events = 1;
  jvmti->AddCapabilities(&wanted);
  using Slots = jvmtiEventCallbacks;
  events.Add(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, &Slots::GarbageCollectionFinish,
             kGuarded<OnCollection>);
  events.Add(JVMTI_EVENT_CLASS_PREPARE, &Slots::ClassPrepare, kGuarded<OnClassPrepare>);
  Publish(*this);
  Hook(TableOf(jvmti));
}

// Does nothing if another agent has hooked the table after this one: its hook calls this one's.
void MethodReuse::Hook(jvmtiInterface_1& table) {
  if (redefine == nullptr) {
    redefine = table.RedefineClasses;
    retransform = table.RetransformClasses;
  }
  if (table.RedefineClasses == redefine) table.RedefineClasses = OnRedefine;
  if (table.RetransformClasses == retransform) table.RetransformClasses = OnRetransform;
}

void MethodReuse::End(jvmtiEnv* jvmti) {
  jvmtiInterface_1& table = TableOf(jvmti);
  if (table.RedefineClasses == OnRedefine) table.RedefineClasses = redefine;
  if (table.RetransformClasses == OnRetransform) table.RetransformClasses = retransform;
}

void MethodReuse::OnCollection(jvmtiEnv*) {
  if (const InUse<MethodReuse> reuse; reuse) ++reuse->epoch_;
}

void MethodReuse::OnClassPrepare(jvmtiEnv*, JNIEnv*, jthread, jclass) {
  const InUse<MethodReuse> reuse;
  if (!reuse) return;
  const uint64_t epoch = reuse->epoch_;
  if (reuse->forgotten_epoch_ == epoch && !(reuse->unloads_later_ && epoch != 0)) return;
  // Empties the caches before it stores the epoch: methods of a class that another thread prepares
  // meanwhile may run at once.
  reuse->session_.threads().ForgetMethods();
  reuse->forgotten_epoch_ = epoch;
}

// Forgets the methods. A redefinition may take long, and the agent may be detached and another
// attached meanwhile.
void MethodReuse::Forget() {
  const InUse<MethodReuse> reuse;
  if (!reuse) return;
  ++reuse->epoch_;
  reuse->session_.threads().ForgetMethods();
}

jvmtiError MethodReuse::OnRedefine(jvmtiEnv* jvmti, jint count,
                                   const jvmtiClassDefinition* classes) {
  Forget();
  const jvmtiError error = redefine(jvmti, count, classes);
  Forget();
  return error;
}

jvmtiError MethodReuse::OnRetransform(jvmtiEnv* jvmti, jint count, const jclass* classes) {
  Forget();
  const jvmtiError error = retransform(jvmti, count, classes);
  Forget();
  return error;
}

}  // namespace jprof::agent
