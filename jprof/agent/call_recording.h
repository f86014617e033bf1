// Owns the parts of a recording of calls, samples or both, and begins and ends them step by step.
#pragma once

#include <jvmti.h>

#include <memory>
#include <span>
#include <string>

#include "common/result.h"
#include "jprof/agent/agent_session.h"
#include "jprof/agent/calls/call_source.h"
#include "jprof/agent/calls/focus.h"
#include "jprof/agent/calls/method_reuse.h"
#include "jprof/agent/control.h"
#include "jprof/agent/labels/label_natives.h"
#include "jprof/agent/objects/object_recording.h"
#include "jprof/agent/sampling/sampling.h"
#include "jprof/agent/vm/existing_threads.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/agent/vm/recorded_threads.h"
#include "jprof/setup/meta.h"
#include "jprof/setup/plan.h"
#include "options/agent_options.h"

namespace jprof::agent {

class CallRecording {
 public:
  // All of it must exist as long as the recording.
  struct Setting {
    JavaVM* java;
    jvmtiEnv* jvmti;
    const options::AgentOptions& options;
    const setup::Plan& plan;
    engine::Session* hooks;        // that of the hooks if it is joined, or null
    const std::string& directory;  // of the profile
    bool attached;                 // whether the agent begins in a running JVM
  };
  explicit CallRecording(const Setting& setting);

  // Opens the parts, adds their events, and begins the session: events may arrive from now on.
  // `threads` are those that exist if the agent is attached. Fails if the VM or the machine does
  // not support a part, or if the profile cannot be created.
  Result<void> Open(JvmtiEvents& events, std::span<const ExistingThread> threads);
  // Begins what does not need the live phase. The events are enabled already. Fails if the probe
  // cannot be installed.
  Result<void> BeginWithJvm();
  // Begin what needs the live phase: the counting of calls and, as the last step of the agent, the
  // samples. `threads` are the existing ones, or in VMInit the calling one. Begin fails if no calls
  // are counted.
  Result<void> Begin(JNIEnv* jni, std::span<const ExistingThread> threads);
  void BeginSampling(JNIEnv* jni);

  // Ends the recording and completes the profile. Methods that count may go on.
  void End(JNIEnv* jni);
  // Ends the samples and the counting, and restores the VM's code. Fails if probes cannot be
  // removed; then the recording continues. Call this before End.
  Result<void> RestoreCode(JNIEnv* jni);
  // Disables the events that are not among those of Open. Callbacks may still be in progress.
  void DisableEvents();
  // Frees what the recording used, and restores the signal handlers. Requires that no callback is
  // in progress.
  void Close();

  // Leaves the control channel to the parent, in a child made by fork().
  void LeaveToParent() { control_.LeaveToParent(); }

  engine::Session& session() { return session_.session(); }
  const setup::ProbeMetadata& metadata() const { return source_->metadata(); }

 private:
  Result<void> OpenSampling();
  Result<void> OpenObjects();
  Result<void> BeginSession();
  void Listen();
  RecordingCommands Commands();

  const Setting setting_;
  AgentSession session_;
  Focus focus_;
  RecordedThreads threads_;
  MethodReuse method_reuse_;
  LabelNatives labels_;
  std::unique_ptr<CallSource> source_;        // set by Open
  std::unique_ptr<ObjectRecording> objects_;  // null if the plan has no objects
  std::unique_ptr<Sampling> sampling_;        // null if the plan has no samples
  Control control_;
};

}  // namespace jprof::agent
