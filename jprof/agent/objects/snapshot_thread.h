// Calls a function every few seconds, on a thread of the VM. The object must exist as long as the
// VM: nothing waits for the thread, because the function may never return while the VM ends.
#pragma once

#include <jvmti.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace jprof::agent {

class SnapshotThread {
 public:
  // Starts the thread. Returns false if the VM refuses. `take` is called every `seconds` until End.
  bool Begin(jvmtiEnv* jvmti, JNIEnv* jni, uint64_t seconds, std::function<void(JNIEnv*)> take);
  // Ends the calls. One may still be in progress. Does nothing if the thread was not started.
  void End();

 private:
  static void JNICALL Run(jvmtiEnv* jvmti, JNIEnv* jni, void* argument);
  bool IsDue();

  uint64_t seconds_ = 0;
  std::function<void(JNIEnv*)> take_;
  std::mutex lock_;
  std::condition_variable changed_;
  bool ending_ = false;  // guarded by lock_
};

}  // namespace jprof::agent
