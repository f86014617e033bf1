// Keeps the Java threads that a session records: their states, their names, and the parts that
// follow them. Events of the VM find this object through InUse.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jprof/agent/vm/early_threads.h"
#include "jprof/agent/vm/existing_threads.h"
#include "jprof/agent/vm/java_threads.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/engine/session.h"

namespace jprof::agent {

// Follows the recorded threads: keeps a state of its own for each of them.
class ThreadFollower {
 public:
  // Add and remove the calling thread. Adding a thread again has no effect.
  virtual void AddThread(JNIEnv* jni) = 0;
  virtual void RemoveThread() = 0;
  // Returns whether it follows threads that exist when the agent is attached before their first
  // event. If so, AddEarlyThread adds one, which takes `state` as its own unless it returns false.
  virtual bool FollowsEarlyThreads() const { return false; }
  virtual bool AddEarlyThread(engine::Thread& /*state*/, const ExistingThread& /*thread*/) {
    return false;
  }

 protected:
  ~ThreadFollower() = default;
};

class RecordedThreads {
 public:
  // `session` must exist as long as the object. `attached` is whether the agent begins in a running
  // JVM.
  RecordedThreads(engine::Session& session, jvmtiEnv* jvmti, bool attached)
      : session_(session), java_threads_(jvmti), attached_(attached) {}
  RecordedThreads(const RecordedThreads&) = delete;
  RecordedThreads& operator=(const RecordedThreads&) = delete;

  // Makes `follower`, which must outlive the object, follow the threads. Call this before AddTo.
  void AddFollower(ThreadFollower& follower) { followers_.push_back(&follower); }
  // Adds the events of threads that begin and end.
  void AddTo(JvmtiEvents& events);

  // Sets the names of threads that exist when their recording begins. EarlyNames returns a function
  // that finds them by tid, for SessionOptions::name_of. Call SetEarlyNames before the first of
  // these threads is recorded.
  void SetEarlyNames(std::span<const ExistingThread> threads);
  std::function<std::string_view(uint32_t tid)> EarlyNames() const;

  // Begins with the threads that exist: those of a running JVM, or in VMInit the calling thread.
  void Begin(JNIEnv* jni, std::span<const ExistingThread> threads);
  // Declares that the methods of threads that begin from now on are recorded from the first one on.
  // That is so from the start if the agent began with the JVM.
  void RecordWholeThreads() { whole_ = true; }
  // Names the running threads as they are called now.
  void End(JNIEnv* jni);

  // Makes the calling thread take the state that Begin made for it, if there is one. Can be called
  // in signal handlers.
  void AdoptCurrent() { early_.AdoptCurrent(); }
  // Adds the calling thread, whose start the VM has not reported, to the followers.
  void AddToFollowers(JNIEnv* jni);

 private:
  static void JNICALL OnThreadStart(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  static void JNICALL OnThreadEnd(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);

  void Start(JNIEnv* jni, jthread thread);
  void Stop(jthread thread);
  void Join(std::span<const ExistingThread> threads);
  void JoinOne(const ExistingThread& thread);
  void NameEarlyThreads(JNIEnv* jni);

  engine::Session& session_;
  const JavaThreads java_threads_;  // the values are engine::Threads
  const bool attached_;
  std::atomic<bool> whole_ = !attached_;
  std::vector<ThreadFollower*> followers_;
  EarlyThreads early_;
  std::map<uint32_t, std::string> early_names_;  // by tid
};

}  // namespace jprof::agent
