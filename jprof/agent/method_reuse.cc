#include "jprof/agent/method_reuse.h"

#include "jprof/agent/agent.h"

namespace jprof::agent {
namespace {

// The table is declared const only for its callers.
jvmtiInterface_1& TableOf(jvmtiEnv* jvmti) {
  return *const_cast<jvmtiInterface_1*>(jvmti->functions);
}

}  // namespace

void MethodReuse::AddTo(JvmtiEvents& events, jvmtiEnv* jvmti) {
  jvmtiCapabilities wanted = {};
  wanted.can_generate_garbage_collection_events = 1;
  jvmti->AddCapabilities(&wanted);
  using Slots = jvmtiEventCallbacks;
  events.Add(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, &Slots::GarbageCollectionFinish, OnCollection);
  events.Add(JVMTI_EVENT_CLASS_PREPARE, &Slots::ClassPrepare, OnClassPrepare);
  jvmtiInterface_1& table = TableOf(jvmti);
  redefine_ = table.RedefineClasses;
  retransform_ = table.RetransformClasses;
  table.RedefineClasses = OnRedefine;
  table.RetransformClasses = OnRetransform;
}

void MethodReuse::Unhook(jvmtiEnv* jvmti) {
  if (redefine_ == nullptr) return;
  TableOf(jvmti).RedefineClasses = redefine_;
  TableOf(jvmti).RetransformClasses = retransform_;
}

void MethodReuse::OnCollection(jvmtiEnv*) { ++TheAgent().method_reuse.epoch_; }

void MethodReuse::OnClassPrepare(jvmtiEnv*, JNIEnv*, jthread, jclass) {
  MethodReuse& reuse = TheAgent().method_reuse;
  const uint64_t epoch = reuse.epoch_;
  if (reuse.forgotten_epoch_.exchange(epoch) != epoch) reuse.session_.ForgetMethods();
}

template <typename F>
jvmtiError MethodReuse::Forgetting(F redefine) {
  session_.ForgetMethods();
  const jvmtiError error = redefine();
  ++epoch_;
  session_.ForgetMethods();
  return error;
}

jvmtiError MethodReuse::OnRedefine(jvmtiEnv* jvmti, jint count,
                                   const jvmtiClassDefinition* classes) {
  MethodReuse& reuse = TheAgent().method_reuse;
  return reuse.Forgetting([&] { return reuse.redefine_(jvmti, count, classes); });
}

jvmtiError MethodReuse::OnRetransform(jvmtiEnv* jvmti, jint count, const jclass* classes) {
  MethodReuse& reuse = TheAgent().method_reuse;
  return reuse.Forgetting([&] { return reuse.retransform_(jvmti, count, classes); });
}

}  // namespace jprof::agent
