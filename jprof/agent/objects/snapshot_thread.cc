#include "jprof/agent/objects/snapshot_thread.h"

#include <chrono>
#include <utility>

#include "jprof/agent/objects/program_end.h"
#include "jprof/agent/vm/jvmti_env.h"

namespace jprof::agent {

constexpr char kSnapshotsName[] = "jprof snapshots";

bool SnapshotThread::Begin(jvmtiEnv* jvmti, JNIEnv* jni, uint64_t seconds,
                           std::function<void(JNIEnv*)> take) {
  seconds_ = seconds;
  take_ = std::move(take);
  const jthread thread = NewThread(jni, kSnapshotsName);
  return thread != nullptr &&
         jvmti->RunAgentThread(thread, Run, this, JVMTI_THREAD_NORM_PRIORITY) == JVMTI_ERROR_NONE;
}

void JNICALL SnapshotThread::Run(jvmtiEnv*, JNIEnv* jni, void* argument) {
  SnapshotThread& self = *static_cast<SnapshotThread*>(argument);
  while (self.IsDue()) NoteIfNoMemory([&] { self.take_(jni); });
}

// Waits for the time of the next call. Returns false if the thread is to end.
bool SnapshotThread::IsDue() {
  std::unique_lock guard(lock_);
  return !changed_.wait_for(guard, std::chrono::seconds(seconds_), [this] { return ending_; });
}

void SnapshotThread::End() {
  const std::lock_guard guard(lock_);
  ending_ = true;
  changed_.notify_all();
}

}  // namespace jprof::agent
