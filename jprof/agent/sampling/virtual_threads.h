// Follows the starts and ends of virtual threads: the rows of their samples have their names. The
// other sources of events ignore virtual threads.
#pragma once

#include "jprof/agent/sampling/virtual_rows.h"
#include "jprof/agent/sampling/vm_event_source.h"

namespace jprof::agent {

class VirtualThreads final : public VmEventSource {
 public:
  // Requires that `rows` exists as long as the object.
  explicit VirtualThreads(VirtualRows& rows) : rows_(rows) {}

  Result<void> Open(JavaVM* java) override;
  // Does nothing if this JVM has no virtual threads (before JDK 21).
  void Begin() override;

 private:
  static void JNICALL OnStart(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  static void JNICALL OnEnd(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);

  VirtualRows& rows_;
  JavaVM* java_ = nullptr;
};

}  // namespace jprof::agent
