// Implements the option EVENTS: writes what the JVM does over time to a trace (docs/EVENTS.md):
// collections, compiled code, threads, classes, and what threads wait for. It has its own JVMTI
// environment. Callbacks find it through InUse.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <optional>
#include <string>

#include "common/result.h"
#include "jprof/agent/events/known_threads.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/hotspot/vm/heap_counters.h"
#include "jprof/hotspot/vm/vm.h"

namespace jprof::agent {

// Without Open, or after an error of it, the other functions do nothing. An open trace must exist
// as long as InUse finds it.
class EventTrace {
 public:
  // Creates the trace events/jvm in the directory of the profile. After an error there is none, and
  // the VM is unchanged.
  Result<void> Open(JavaVM* java, const std::string& directory);
  // Begins to write. Call this in the live phase. The threads that exist begin now.
  void Begin(JNIEnv* jni);
  // Completes the trace. Nothing is written afterwards.
  void End();
  // Makes threads park without being reported, as before Begin. Call this before DisableEvents.
  void RestoreCode(JNIEnv* jni);
  // Disables the events. Callbacks may still be in progress.
  void DisableEvents();
  // Disposes of the environment, and frees what the trace used. Call this when no callback is in
  // progress.
  void Close();

  // The calling thread parks. BeginPark returns a number for EndPark, or 0 if nothing is written.
  uint64_t BeginPark(JNIEnv* jni) const;
  void EndPark(uint64_t number, int64_t begin_ns) const;

 private:
  static void JNICALL OnCollectionStart(jvmtiEnv* jvmti);
  static void JNICALL OnCollectionFinish(jvmtiEnv* jvmti);
  static void JNICALL OnMethodLoad(jvmtiEnv* jvmti, jmethodID method, jint length,
                                   const void* address, jint map_length,
                                   const jvmtiAddrLocationMap* map, const void* compile_info);
  static void JNICALL OnMethodUnload(jvmtiEnv* jvmti, jmethodID method, const void* address);
  static void JNICALL OnContended(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object);
  static void JNICALL OnEntered(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object);
  static void JNICALL OnWait(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object,
                             jlong timeout);
  static void JNICALL OnWaited(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object,
                               jboolean timed_out);
  static void JNICALL OnThreadStart(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  static void JNICALL OnThreadEnd(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  static void JNICALL OnClassLoad(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass loaded);

  // Fields of java.lang.Thread, null if this VM has none.
  struct ThreadFields {
    jfieldID vm_thread = nullptr, number = nullptr, blocker = nullptr;
  };

  Result<void> OpenTrace(const std::string& directory);
  Result<void> AddCapabilities() const;
  void AddEvents();
  void FindFields(JNIEnv* jni);
  void AddExistingThreads(JNIEnv* jni);
  void WriteThreadBegin(JNIEnv* jni, jthread thread, uint32_t tid, const char* name) const;
  uint64_t NumberOf(JNIEnv* jni, jthread thread) const;
  std::string ClassOf(JNIEnv* jni, jobject object) const;
  uint32_t HashOf(jobject object) const;

  jvmtiEnv* jvmti_ = nullptr;
  JvmtiEvents events_;
  uint64_t recording_ = 0;  // of the process's recordings, from 1
  std::optional<hotspot::VmStructs> structs_;
  std::optional<hotspot::Vm> vm_;
  std::optional<KnownThreads> threads_;
  hotspot::HeapCounters heap_;
  ThreadFields fields_;
  // Of the VM's thread that collects.
  uint64_t collections_ = 0;
  int64_t collection_begin_ns_ = 0;
};

}  // namespace jprof::agent
