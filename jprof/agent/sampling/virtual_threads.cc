#include "jprof/agent/sampling/virtual_threads.h"

#include <utility>

#include "jprof/agent/vm/in_use.h"

namespace jprof::agent {

Result<void> VirtualThreads::Open(JavaVM* java) {
  java_ = java;
  return {};
}

void VirtualThreads::Begin() {
  jvmti_ = NewJvmtiEnv(java_);
  if (jvmti_ == nullptr) return;
  if (!AddVirtualThreadSupport(jvmti_)) {
    std::exchange(jvmti_, nullptr)->DisposeEnvironment();
    return;
  }
  Publish(rows_);
  events_.AddVirtualThreads(kGuarded<OnStart>, kGuarded<OnEnd>);
  events_.Install(jvmti_);
}

void JNICALL VirtualThreads::OnStart(jvmtiEnv* jvmti, JNIEnv*, jthread thread) {
  if (const InUse<VirtualRows> rows; rows) rows->Started(ThreadName(jvmti, thread));
}

void JNICALL VirtualThreads::OnEnd(jvmtiEnv*, JNIEnv*, jthread) {
  if (const InUse<VirtualRows> rows; rows) rows->Ended();
}

}  // namespace jprof::agent
