// The option TPROF: writes the log of jitted code (profile/jit_log.h) from JVMTI's events, so that
// a sampler outside the process can name Java code by address and time. It has a JVMTI environment
// of its own and is independent of what else the agent records.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "common/result.h"
#include "jprof/agent/java_threads.h"
#include "jprof/hotspot/vm.h"
#include "profile/jit_log.h"

namespace jprof::agent {

// Once started it lives as long as the process: events may come until then, on any thread.
class JitLog {
 public:
  // In Agent_OnLoad, once. Makes the log in that directory; `with_code`: with the instructions.
  // The callbacks reach this object as TheAgent().jit_log. Error: there is no log, and nothing has
  // been changed in the VM.
  Result<void> Start(JavaVM* java, int directory_fd, bool with_code);
  // After a failed start of the agent: no more events.
  void Abandon();

 private:
  static void JNICALL OnVmInit(jvmtiEnv* jvmti, JNIEnv* jni, jthread main);
  static void JNICALL OnVmDeath(jvmtiEnv* jvmti, JNIEnv* jni);
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
  std::span<const uint8_t> Instructions(const profile::JitCode& code) const;
  char TypeOf(uint64_t address);

  profile::JitLogWriter writer_;
  jvmtiEnv* jvmti_ = nullptr;
  JavaThreads threads_;  // with their native ids
  bool with_code_ = false;
  std::optional<hotspot::Vm> vm_;  // tells C1's code from C2's; none: all counts as C1's
  // The thread that is having the VM report the code that was there before; 0: none. The events
  // that this thread gets are of such code.
  std::atomic<uint32_t> reporter_ = 0;
  std::mutex names_lock_;
  std::map<uint32_t, std::string> names_;  // of the live threads, as the log has them
};

}  // namespace jprof::agent
