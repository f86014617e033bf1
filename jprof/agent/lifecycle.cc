#include "jprof/agent/lifecycle.h"

#include <cstring>
#include <string>

#include "common/procfs.h"
#include "jprof/agent/jvmti_probe.h"
#include "jprof/agent/jvmti_threads.h"
#include "jprof/agent/sampling.h"

namespace jprof::agent {
namespace {

engine::Session* session = nullptr;
Sources sources;

// VM methods are freed by a collection that unloads classes, or by redefinition; their addresses
// come back with classes that are prepared later. So caches are emptied when a class is prepared
// after either.
uint64_t memory_epoch = 0;     // collections and redefinitions so far
uint64_t forgotten_epoch = 0;  // of the last ForgetMethods

void JNICALL OnThreadStart(jvmtiEnv* jvmti, JNIEnv* jni, jthread java_thread) {
  // A thread whose first event comes later is attached then; the name is known now.
  engine::Thread* thread = engine::current_thread;
  const bool ended = thread != nullptr && thread->record != nullptr &&
                     thread->record->state == profile::kThreadEnded;
  if (ended) session->Detach();  // it left the VM and has come back as another Java thread
  if (thread == nullptr || ended) thread = session->Attach();
  if (thread == nullptr) return;
  session->Name(thread, NameOf(jvmti, java_thread));
  jvmti->SetThreadLocalStorage(java_thread, thread);
  if (sources.sampling != nullptr) sources.sampling->AddThread(jni);
}

void JNICALL OnThreadEnd(jvmtiEnv* jvmti, JNIEnv*, jthread java_thread) {
  if (sources.sampling != nullptr) sources.sampling->RemoveThread();
  if (engine::Thread* thread = engine::current_thread) {
    session->Name(thread, NameOf(jvmti, java_thread));  // it may have been renamed
    jvmti->SetThreadLocalStorage(java_thread, nullptr);
  }
  session->End();
}

// The operating system's name of a thread, which HotSpot sets to the first 15 bytes of the Java
// name.
std::string KernelName(uint32_t tid) { return procfs::ThreadName(procfs::kSelf, tid); }

// Threads that ran before the VM could tell us: matched by the kernel's name for them.
void NameEarlyThreads(jvmtiEnv* jvmti, JNIEnv* jni) {
  ForEachJavaThread(jvmti, jni, [&](jthread java_thread) {
    const std::string name = NameOf(jvmti, java_thread);
    session->ForEachThread([&](engine::Thread& thread) {
      if (!thread.named && name.substr(0, 15) == KernelName(thread.record->tid)) {
        session->Name(&thread, name);
        jvmti->SetThreadLocalStorage(java_thread, &thread);
      }
    });
  });
}

void JNICALL OnVmInit(jvmtiEnv* jvmti, JNIEnv* jni, jthread main) {
  if (sources.at_vm_start != nullptr) sources.at_vm_start(jni);
  engine::Thread* thread = engine::current_thread;
  if (thread == nullptr && sources.sampling != nullptr) thread = session->Attach();
  if (thread != nullptr) session->Name(thread, NameOf(jvmti, main));
  NameEarlyThreads(jvmti, jni);
  if (sources.jvmti_probe) StartJvmtiProbe(jvmti);
  if (sources.sampling != nullptr) {
    sources.sampling->AddThread(jni);
    sources.sampling->Begin();
  }
}

void JNICALL OnVmDeath(jvmtiEnv* jvmti, JNIEnv* jni) {
  // Threads that still run keep their names of now. One that ends meanwhile is not given back.
  const engine::Session::Hold hold(*session);
  ForEachJavaThread(jvmti, jni, [&](jthread java_thread) {
    void* thread = nullptr;
    if (jvmti->GetThreadLocalStorage(java_thread, &thread) == JVMTI_ERROR_NONE &&
        thread != nullptr) {
      session->Name(static_cast<engine::Thread*>(thread), NameOf(jvmti, java_thread));
    }
  });
  if (sources.control != nullptr) sources.control->Stop();
  if (sources.sampling != nullptr) sources.sampling->Stop();
  session->Finish();
}

void JNICALL OnCollection(jvmtiEnv*) { __atomic_add_fetch(&memory_epoch, 1, __ATOMIC_RELAXED); }

void ForgetIfFreed() {
  const uint64_t epoch = __atomic_load_n(&memory_epoch, __ATOMIC_RELAXED);
  if (__atomic_exchange_n(&forgotten_epoch, epoch, __ATOMIC_RELAXED) != epoch) {
    session->ForgetMethods();
  }
}

void JNICALL OnClassPrepare(jvmtiEnv*, JNIEnv*, jthread, jclass) { ForgetIfFreed(); }

// Redefinition has no event of its own, but all agents come through one function table.
jvmtiError(JNICALL* redefine)(jvmtiEnv*, jint, const jvmtiClassDefinition*) = nullptr;
jvmtiError(JNICALL* retransform)(jvmtiEnv*, jint, const jclass*) = nullptr;

template <typename F>
jvmtiError Forgetting(F f) {
  session->ForgetMethods();
  const jvmtiError error = f();
  __atomic_add_fetch(&memory_epoch, 1, __ATOMIC_RELAXED);
  session->ForgetMethods();
  return error;
}

jvmtiError JNICALL Redefine(jvmtiEnv* jvmti, jint count, const jvmtiClassDefinition* classes) {
  return Forgetting([&] { return redefine(jvmti, count, classes); });
}
jvmtiError JNICALL Retransform(jvmtiEnv* jvmti, jint count, const jclass* classes) {
  return Forgetting([&] { return retransform(jvmti, count, classes); });
}

void WatchRedefinition(jvmtiEnv* jvmti) {
  auto* table = const_cast<jvmtiInterface_1*>(jvmti->functions);
  redefine = table->RedefineClasses;
  retransform = table->RetransformClasses;
  table->RedefineClasses = Redefine;
  table->RetransformClasses = Retransform;
}

}  // namespace

void PrepareLifecycle(jvmtiEnv* jvmti, engine::Session* the_session, Sources the_sources,
                      jvmtiEventCallbacks* callbacks) {
  session = the_session;
  sources = the_sources;
  jvmtiCapabilities wanted = {};
  wanted.can_generate_garbage_collection_events = 1;
  jvmti->AddCapabilities(&wanted);
  callbacks->VMInit = OnVmInit;
  callbacks->VMDeath = OnVmDeath;
  callbacks->ThreadStart = OnThreadStart;
  callbacks->ThreadEnd = OnThreadEnd;
  callbacks->GarbageCollectionFinish = OnCollection;
  callbacks->ClassPrepare = OnClassPrepare;
  WatchRedefinition(jvmti);
}

void StartLifecycle(jvmtiEnv* jvmti) {
  for (const jvmtiEvent event :
       {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
        JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, JVMTI_EVENT_CLASS_PREPARE}) {
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  }
}

}  // namespace jprof::agent
