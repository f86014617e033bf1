// Implements the option TPROF: writes the log of jitted code (profile/log/jit_log.h) from JVMTI's
// events, so that a sampler outside the process can name Java code by address and time. It has its
// own JVMTI environment and is independent of the other recordings of the agent.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "jprof/agent/vm/existing_threads.h"
#include "jprof/agent/vm/java_threads.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/hotspot/vm/vm.h"
#include "profile/log/jit_log.h"

namespace jprof::agent {

// Without Open, or after an error of it, the other functions do nothing. An open log must exist as
// long as InUse finds it: events arrive on any thread.
class JitLog {
 public:
  // Creates the log in the directory, with the instructions if `with_code`. The callbacks find this
  // object through InUse. After an error there is no log, and the VM is unchanged.
  Result<void> Open(JavaVM* java, int directory_fd, bool with_code);
  // Adds the threads that exist, of which `threads` are known by name, and the existing code. Call
  // this in the live phase, after Open.
  void Begin(JNIEnv* jni, std::span<const ExistingThread> threads);
  // Completes the log. Nothing is written afterwards.
  void End(JNIEnv* jni);
  // Disables the events. Callbacks may still be in progress.
  void DisableEvents();
  // Disposes of the environment. Call this when no callback is in progress.
  void Close();

 private:
  static void JNICALL OnThreadStart(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  static void JNICALL OnThreadEnd(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  static void JNICALL OnMethodLoad(jvmtiEnv* jvmti, jmethodID method, jint length,
                                   const void* address, jint map_length,
                                   const jvmtiAddrLocationMap* map, const void* compile_info);
  static void JNICALL OnMethodUnload(jvmtiEnv* jvmti, jmethodID method, const void* address);
  static void JNICALL OnStub(jvmtiEnv* jvmti, const char* name, const void* address, jint length);

  void SetEvents(jvmtiEnv* jvmti);
  void NameEarlyThreads(JNIEnv* jni);
  void ReportEarlierCode(jvmtiEnv* jvmti);
  void RecordThread(uint32_t tid, profile::JitThreadEvent event, const std::string& name);
  void RecordThreadEnd(uint32_t tid);
  bool IsNamed(uint32_t tid);
  bool IsEarlierCode() const;
  // Returns a copy, because the program may change its code while the log reads it twice.
  std::vector<uint8_t> Instructions(const profile::JitCode& code) const;
  char TypeOf(uint64_t address);

  profile::JitLogWriter writer_;
  jvmtiEnv* jvmti_ = nullptr;
  JvmtiEvents events_;
  JavaThreads threads_;  // the values are native ids
  bool with_code_ = false;
  std::optional<hotspot::Vm> vm_;  // distinguishes code of C1 and C2; without it all counts as C1's
  // The thread that makes the VM report existing code, or 0. Events on this thread are about
  // such code.
  std::atomic<uint32_t> reporter_ = 0;
  std::mutex names_lock_;
  std::map<uint32_t, std::string> names_;  // live threads in the log
};

}  // namespace jprof::agent
