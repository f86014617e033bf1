// Makes the recordings of one JVM. Agent_OnLoad creates the agent when the JVM starts, and
// Agent_OnAttach in a running JVM (start.h). It owns a recording of calls or samples, a log of
// jitted code, or both, and may own a trace of the JVM's events. Callbacks and signal handlers find
// the parts through InUse. An agent that began with the JVM exists until the process ends; one that
// was attached is freed when it is detached.
#pragma once

#include <jvmti.h>

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "jprof/agent/call_recording.h"
#include "jprof/agent/events/event_trace.h"
#include "jprof/agent/vm/existing_threads.h"
#include "jprof/agent/vm/jit_log.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/setup/plan.h"
#include "options/agent_options.h"

namespace jprof::agent {

class Agent {
 public:
  // Opens nothing. `hooks` is the session of the hooks if it is joined, or null (agent_session.h).
  // `directory` is that of the profile. `attaching` belongs to the calling Java thread; it is null
  // when the JVM starts.
  Agent(JavaVM* java, JNIEnv* attaching, jvmtiEnv* jvmti, options::AgentOptions options,
        setup::Plan plan, engine::Session* hooks, std::string directory);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Opens all parts and begins what can begin before the JVM runs; in a running JVM, calls Begin.
  // Fails if a part that the plan requires cannot be opened. Call this when the agent is published.
  // After an error call UnpublishAll and then Close.
  Result<void> Open();

  // Begins the rest, in VMInit or in a running JVM. `threads` are the threads that exist, or in
  // VMInit the calling one. `jni` belongs to the calling thread, here and below. Fails if no calls
  // are counted: in a running JVM nothing else begins then, but in VMInit the rest does.
  Result<void> Begin(JNIEnv* jni, std::span<const ExistingThread> threads);

  // Ends the recording and completes the profile. Only the first call has an effect, as the VM and
  // the program may call it at the same time.
  void End(JNIEnv* jni);

  // Detach the agent. First call EndAndRestoreCode, while the agent is published: it ends the
  // recording and disables all events and probes. It fails if probes cannot be removed; then the
  // recording continues. Then call UnpublishAll, and then Close, which restores the signal handlers
  // and frees what the recording used. The VM is then as before Open, and the object can be
  // deleted.
  Result<void> EndAndRestoreCode(JNIEnv* jni);
  void Close();

  // Returns whether the agent began in a running JVM.
  bool attached() const { return attaching_ != nullptr; }
  const std::string& directory() const { return directory_; }
  // Leaves what belongs to the parent, in a child made by fork().
  void LeaveToParent();

 private:
  // The steps of Open, in this order.
  Result<void> FindThreads();
  Result<void> OpenCalls();
  Result<void> OpenJitLog();
  Result<void> WriteMeta();
  Result<void> BeginWithJvm();
  Result<void> OpenEventTrace();
  Result<void> Join();

  void DisableEvents();
  void ReportOpened() const;

  JavaVM* const java_;
  JNIEnv* const attaching_;
  jvmtiEnv* const jvmti_;
  const options::AgentOptions options_;
  const setup::Plan plan_;
  engine::Session* const hooks_;
  const std::string directory_;

  JvmtiEvents events_;
  std::optional<CallRecording> calls_;  // set by Open, unless the plan has no session
  JitLog jit_log_;                      // open if the plan has it
  EventTrace event_trace_;              // the same
  std::vector<ExistingThread> existing_;
  std::mutex ending_;
  bool ended_ = false;
};

}  // namespace jprof::agent
