// Counts the locks of Java code (docs/LOCKS.md): the part of woven counting that knows locks. Woven
// methods call java.lang.JprofLocks where they take and release a monitor, and the VM's events call
// it where a thread has to wait. This object gives that class what only the agent knows.
//
// The events and the native methods of the class find it through InUse.
#pragma once

#include <jvmti.h>

#include <memory>
#include <span>

#include "common/lock_kind.h"
#include "common/result.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/engine/session.h"
#include "jprof/setup/lock_edges.h"
#include "profile/files/lock_edge.h"

namespace jprof::agent {

class Locks {
 public:
  // Requests the capability. Fails if this VM does not report contended monitors.
  static Result<std::unique_ptr<Locks>> Open(jvmtiEnv* jvmti, engine::Session& session, bool lite);
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;

  // Adds the events, which stay disabled until Begin.
  static void AddTo(JvmtiEvents& events);
  // Returns the native methods of JprofLocks for RegisterNatives.
  static std::span<const JNINativeMethod> Natives();

  // Begins to count. `locks` is the class, and methods count already.
  Result<void> Begin(JNIEnv* jni, jclass locks);
  void End(JNIEnv* jni);

  // Serve the native methods.
  jint IdOf(JNIEnv* jni, jclass type, LockKind kind) const;
  bool AddEdge(const profile::LockEdge& event) { return edges_.Add(event); }
  // Returns the number of the node at a place, or 0 if it is not of this recording.
  uint32_t NodeAt(jlong place) const;
  // Calls a method of JprofLocks with the monitor that an event is about.
  enum class Call { kContended, kEntered, kWaits, kResumes };
  void Tell(JNIEnv* jni, Call call, jobject monitor) const;

 private:
  Locks(jvmtiEnv* jvmti, engine::Session& session, bool lite)
      : jvmti_(jvmti), session_(session), lite_(lite), edges_(session.writer()) {}

  bool FindMethods(JNIEnv* jni);

  jvmtiEnv* const jvmti_;
  engine::Session& session_;
  const bool lite_;
  setup::LockEdges edges_;
  jclass class_ = nullptr;
  jmethodID methods_[4] = {};  // by Call
};

}  // namespace jprof::agent
