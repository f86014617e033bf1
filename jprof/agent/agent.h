// The agent of one recording JVM: its parts, and the steps that start them. Agent_OnLoad creates
// the only object. It is never freed, not even after a failed start, because probes, signal
// handlers, hooks in the VM and callbacks may use it until the process ends.
#pragma once

#include <jvmti.h>

#include <memory>
#include <string>

#include "common/result.h"
#include "jprof/agent/control.h"
#include "jprof/agent/focus.h"
#include "jprof/agent/hotspot_probe.h"
#include "jprof/agent/java_threads.h"
#include "jprof/agent/jdk_packages.h"
#include "jprof/agent/jit_log.h"
#include "jprof/agent/jvmti_env.h"
#include "jprof/agent/jvmti_probe.h"
#include "jprof/agent/meta.h"
#include "jprof/agent/method_reuse.h"
#include "jprof/agent/plan.h"
#include "jprof/agent/sampling.h"
#include "jprof/agent/triggers.h"
#include "jprof/engine/session.h"
#include "options/agent_options.h"

namespace jprof::agent {

struct Agent {
  // `made`: the profile's directory. The constructor opens nothing.
  Agent(JavaVM* java_vm, jvmtiEnv* env, AgentOptions parsed, Plan planned, std::string made);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Call in Agent_OnLoad, after TheAgent() returns this object. After an error the program runs as
  // without an agent: no callback, no signal handler, no listener.
  Result<void> Start();

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
  std::unique_ptr<Sampling> sampling;
  std::unique_ptr<VmTriggers> vm_triggers;

  engine::Session session;
  JavaThreads java_threads;  // with their engine::Thread
  JdkPackages jdk_packages;
  MethodReuse method_reuse;
  JitLog jit_log;
  Control control;

 private:
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

  Result<void> OpenProbe();
  Result<void> FindHotspotProbe();
  void Abandon();
  void ReportStarted() const;

  ProbeFacts probe_facts_ = {"none", "", ""};
  JvmtiEvents events_;
  jvmtiEnv* virtual_threads_ = nullptr;
};

// The agent, for JVMTI callbacks and signal handlers. Valid after Agent_OnLoad has created it.
Agent& TheAgent();

}  // namespace jprof::agent
