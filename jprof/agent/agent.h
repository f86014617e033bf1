// The agent of one recording JVM: its parts, and the steps that start and end them. Agent_OnLoad
// creates it when the JVM starts, Agent_OnAttach in a running JVM (attach.cc). Callbacks and signal
// handlers find it through AgentUse. An agent that began with the JVM exists until the process
// ends; one that was attached is freed when it is detached.
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
#include "jprof/agent/control.h"
#include "jprof/agent/existing_threads.h"
#include "jprof/agent/focus.h"
#include "jprof/agent/hotspot_probe.h"
#include "jprof/agent/java_threads.h"
#include "jprof/agent/jdk_packages.h"
#include "jprof/agent/jit_log.h"
#include "jprof/agent/jvmti_env.h"
#include "jprof/agent/jvmti_probe.h"
#include "jprof/agent/method_reuse.h"
#include "jprof/agent/probe_check.h"
#include "jprof/agent/sampling.h"
#include "jprof/agent/triggers.h"
#include "jprof/agent/woven_counter.h"
#include "jprof/engine/session.h"
#include "jprof/recording/meta.h"
#include "jprof/recording/plan.h"
#include "options/agent_options.h"

namespace jprof::agent {

// Whether the hooks of C and C++ functions have begun a recording that the JVM's methods belong to.
bool JoinsHooks(const Plan& plan);

struct Agent {
  // `made`: the profile's directory. `jni_env`: null when the JVM starts, else of the calling Java
  // thread, for Start. The constructor opens nothing.
  Agent(JavaVM* java_vm, JNIEnv* jni_env, jvmtiEnv* env, AgentOptions parsed, Plan planned,
        std::string made);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Call after PublishAgent. After an error the recording has ended: call Remove.
  Result<void> Start();

  // Ends the recording and completes the profile, once: the VM or the program may do it at the same
  // time. `jni`: of the calling thread.
  void EndRecording(JNIEnv* jni);

  // Detaching: Withdraw first, while this is the published agent; it ends the recording and
  // disables all events and probes. Then WithdrawAgent, and then Remove, which restores the signal
  // handlers and frees what the recording used. The VM is then as before Start, and the object can
  // be deleted. Error of Withdraw: probes cannot be removed, and the recording continues.
  Result<void> Withdraw(JNIEnv* jni);
  void Remove();

  // In VMInit or, in a running JVM, as the last step: methods count themselves from now on. Does
  // nothing with another source.
  Result<void> BeginWoven(JNIEnv* jni);

  // Whether it began in a running JVM.
  bool attached() const { return jni_ != nullptr; }
  // Whether the methods of a thread that begins now are recorded from the first one on.
  bool records_whole_threads() const { return !attached() || probed_; }

  // Constant after construction.
  JavaVM* const java;
  jvmtiEnv* const jvmti;
  const AgentOptions options;
  const Plan plan;
  const std::string directory;

  // Constant after Start; null: the plan does not include the part.
  std::unique_ptr<HotspotVm> hotspot;
  std::unique_ptr<HotspotProbe> hotspot_probe;
  std::unique_ptr<JvmtiProbe> jvmti_probe;
  std::unique_ptr<WovenCounter> woven;
  std::unique_ptr<Sampling> sampling;
  std::unique_ptr<VmTriggers> vm_triggers;

  const std::unique_ptr<engine::Session> own_session_;  // null: it joins the hooks
  // The agent's own, or that of the hooks of C and C++ functions if they have begun one.
  engine::Session& session;
  JavaThreads java_threads;  // with their engine::Thread
  JdkPackages jdk_packages;
  MethodReuse method_reuse;
  ProbeCheck probe_check;
  JitLog jit_log;
  Control control;

 private:
  // Whether the session is that of the hooks: they end it.
  bool joins_hooks() const { return own_session_ == nullptr; }

  // The steps, in this order; each does nothing if the plan does not include its part.
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

  ProbeFacts probe_facts_ = {"none", "", ""};
  JvmtiEvents events_;
  jvmtiEnv* virtual_threads_ = nullptr;
  std::vector<ExistingThread> existing_;  // when it was attached
  // By tid, of threads that exist when it was attached or, with woven counting, in VMInit.
  std::map<uint32_t, std::string> early_names_;
  uint8_t debug_info_before_ = 0;  // the flag DebugNonSafepoints
  bool sets_debug_info_ = false;
  std::mutex ending_;
  bool started_ = false, ended_ = false;
  std::atomic<bool> probed_ = false;
};

}  // namespace jprof::agent
