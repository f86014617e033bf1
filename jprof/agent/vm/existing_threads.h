// Lists the Java threads of a running JVM with their native threads, for an agent that is attached.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/result.h"
#include "jprof/hotspot/vm/native_thread.h"

namespace jprof::agent {

struct ExistingThread {
  jthread java;  // local reference
  std::string name;
  uint64_t vm_thread = 0;  // 0 if it is not known
  hotspot::NativeThread native;
};

// Lists the threads. Call this in the live phase on a Java thread. A thread that begins or ends
// meanwhile may be missing, and a listed thread may end at any time. Fails if this VM does not
// export what is required.
Result<std::vector<ExistingThread>> ExistingThreads(JNIEnv* jni, jvmtiEnv* jvmti);

// Returns the VM's JavaThread* of a platform thread, or 0 if it is virtual, has ended, or the field
// that has it is not known.
uint64_t VmThreadOf(JNIEnv* jni, jthread thread);

// Returns the calling thread, which is `java`, with its name and its native id.
ExistingThread CurrentJavaThread(jvmtiEnv* jvmti, jthread java);

}  // namespace jprof::agent
