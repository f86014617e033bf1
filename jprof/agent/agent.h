// The agent of one recording JVM: its parts, and the steps that start and end them. Agent_OnLoad
// creates it when the JVM starts, and Agent_OnAttach in a running JVM (attach.cc). Callbacks and
// signal handlers find it through AgentUse. An agent that began with the JVM exists until the
// process ends; one that was attached is freed when it is detached.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/result.h"
#include "jprof/agent/calls/focus.h"
#include "jprof/agent/calls/hotspot_probe.h"
#include "jprof/agent/calls/jvmti_probe.h"
#include "jprof/agent/calls/method_reuse.h"
#include "jprof/agent/calls/probe_check.h"
#include "jprof/agent/calls/woven_counter.h"
#include "jprof/agent/control.h"
#include "jprof/agent/sampling/sampling.h"
#include "jprof/agent/sampling/triggers.h"
#include "jprof/agent/vm/existing_threads.h"
#include "jprof/agent/vm/java_threads.h"
#include "jprof/agent/vm/jdk_packages.h"
#include "jprof/agent/vm/jit_log.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/engine/session.h"
#include "jprof/setup/meta.h"
#include "jprof/setup/plan.h"
#include "options/agent_options.h"

namespace jprof::agent {

// Returns whether the hooks of C and C++ functions have begun a recording that the JVM's
// methods belong to.
bool JoinsHooks(const setup::Plan& plan);

struct Agent {
  // Opens nothing. `made` is the profile's directory. `jni_env` belongs to the calling Java thread
  // and is used by Start; it is null when the JVM starts.
  Agent(JavaVM* java_vm, JNIEnv* jni_env, jvmtiEnv* env, options::AgentOptions parsed,
        setup::Plan planned, std::string made);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Call this after PublishAgent. After an error the recording has ended; call Remove then.
  Result<void> Start();

  // Ends the recording and completes the profile. Only the first call has an effect, as the VM and
  // the program may call it at the same time. `jni` belongs to the calling thread.
  void EndRecording(JNIEnv* jni);

  // Detach the agent. Call Withdraw while this is the published agent: it ends the recording
  // and disables all events and probes. Then call WithdrawAgent, and then Remove, which
  // restores the signal handlers and frees what the recording used. The VM is then as before
  // Start, and the object can be deleted. Withdraw fails if probes cannot be removed; then the
  // recording continues.
  Result<void> Withdraw(JNIEnv* jni);
  void Remove();

  // Makes methods count themselves from now on. Call this in VMInit or, in a running JVM, as the
  // last step. Does nothing with another source.
  Result<void> BeginWoven(JNIEnv* jni);

  // Returns whether the agent began in a running JVM.
  bool attached() const { return jni_ != nullptr; }
  // Returns whether the methods of a thread that begins now are recorded from the first one on.
  bool records_whole_threads() const { return !attached() || probed_; }

  // These are constant after construction.
  JavaVM* const java;
  jvmtiEnv* const jvmti;
  const options::AgentOptions options;
  const setup::Plan plan;
  const std::string directory;

  // These are constant after Start, and null if the plan does not include the part.
  std::unique_ptr<HotspotVm> hotspot;
  std::unique_ptr<HotspotProbe> hotspot_probe;
  std::unique_ptr<JvmtiProbe> jvmti_probe;
  std::unique_ptr<WovenCounter> woven;
  std::unique_ptr<Sampling> sampling;
  std::unique_ptr<VmTriggers> vm_triggers;

  const std::unique_ptr<engine::Session> own_session_;  // null if it joins the hooks
  // Refers to the agent's own session, or to that of the hooks if they have begun one.
  engine::Session& session;
  JavaThreads java_threads;  // the values are engine::Threads
  JdkPackages jdk_packages;
  MethodReuse method_reuse;
  ProbeCheck probe_check;
  JitLog jit_log;
  Control control;

 private:
  // Returns whether the session is that of the hooks, which also end it.
  bool joins_hooks() const { return own_session_ == nullptr; }

  // The steps of Start, in this order. Each does nothing if the plan does not include its part.
  Result<void> OpenVm();
  Result<void> OpenSampling();
  Result<void> CollectEvents();
  Result<void> StartSession();
  Result<void> StartJitLog();
  Result<void> WriteMeta();
  Result<void> Listen();
  Result<void> EnableEvents();
  Result<void> InstallProbe();
  Result<void> Join();

  void JoinSampling(const std::vector<ExistingThread>& threads);
  Result<void> OpenProbe();
  Result<void> OpenWoven();
  Result<void> FindHotspotProbe();
  Result<void> CheckCompiledCode();
  void NoteUnchecked(const std::string& reason);
  void ReadNames(const std::vector<ExistingThread>& threads);
  std::function<std::string_view(uint32_t tid)> EarlyNames() const;
  void NameThreads(JNIEnv* jni);
  void DisableEvents();
  void ReportStarted() const;

  JNIEnv* const jni_;

  setup::ProbeFacts probe_facts_;
  JvmtiEvents events_;
  jvmtiEnv* virtual_threads_ = nullptr;
  std::vector<ExistingThread> existing_;  // when the agent was attached
  // Names, by tid, of the threads that existed when the agent was attached or, with woven
  // counting, in VMInit.
  std::map<uint32_t, std::string> early_names_;
  uint8_t debug_info_before_ = 0;  // value of the flag DebugNonSafepoints
  bool sets_debug_info_ = false;
  std::mutex ending_;
  bool started_ = false, ended_ = false;
  std::atomic<bool> probed_ = false;
};

}  // namespace jprof::agent
