// Counts allocated objects beside the calls of a recording: installs the allocation probe, whose
// handlers count in the threads' call trees (jprof/hotspot/objects/object_counts.h), and compares
// with the VM's own account of each thread when the thread or the recording ends.
#pragma once

#include <jvmti.h>

#include <memory>
#include <optional>

#include "common/result.h"
#include "jprof/agent/objects/live_objects.h"
#include "jprof/agent/vm/hotspot_vm.h"
#include "jprof/agent/vm/recorded_threads.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/objects/allocation_probe.h"
#include "jprof/hotspot/objects/late_allocations.h"
#include "jprof/hotspot/objects/thread_allocation.h"

namespace jprof::agent {

class ObjectRecording final : public ThreadFollower {
 public:
  struct Setting {
    JavaVM* java;
    jvmtiEnv* jvmti;
    const options::AgentOptions& options;
    const HotspotVm& vm;
    engine::Session& session;
    bool woven;        // whether methods count themselves
    bool attached;     // whether the agent begins in a running JVM
    int java_version;  // of the JVM
  };
  // Fails (wrong use) if this VM has no allocation probe that is known, or does not export what it
  // requires.
  static Result<std::unique_ptr<ObjectRecording>> Open(const Setting& setting);

  // Installs the probe, unless the agent is attached. Requires that the session has begun. This is
  // a step of Agent_OnLoad.
  Result<void> BeginWithJvm();
  // Begins what needs the live phase.
  void Begin(JNIEnv* jni);
  // Install the probe if the agent is attached: the first before methods count, the second when
  // they do.
  Result<void> BeginLate(JNIEnv* jni);
  Result<void> CountLate();
  // Counts the live objects, and sets the row "not seen by the probe" of all threads that run.
  // Later calls have no effect.
  void End(JNIEnv* jni);
  // Does the same and removes the probe, if the agent is attached. No thread is in a handler
  // afterwards. After an error the recording continues.
  Result<void> EndLate(JNIEnv* jni);

  void AddThread(JNIEnv* jni) override;
  // Sets the row of the calling thread, which has ended.
  void RemoveThread() override;

 private:
  ObjectRecording(const Setting& setting, hotspot::AllocationProbe probe,
                  hotspot::ThreadAllocation allocated);
  // Makes the probe count.
  Result<void> Count() const;
  void SetBegin(engine::Thread& thread) const;
  void SetUnseen(engine::Thread& thread) const;

  const Setting setting_;
  const hotspot::AllocationProbe probe_;
  const hotspot::ThreadAllocation allocated_;
  std::unique_ptr<LiveObjects> live_;             // null without LIVE
  std::optional<hotspot::LateAllocations> late_;  // if the agent is attached
  bool ended_ = false;
};

}  // namespace jprof::agent
