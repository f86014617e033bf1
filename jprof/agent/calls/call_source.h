// Declares what a call tree can be made from: HotSpot's probes, JVMTI's events, methods that count
// themselves, or sampled stacks alone. No event goes through it: each source has handlers of its
// own, which call the engine directly.
//
// A source is opened before anything is written (call_sources.h), begins, and ends only if the
// agent is detached: when the program ends, its threads may count until the last moment.
#pragma once

#include <jvmti.h>

#include <string>

#include "common/result.h"
#include "jprof/agent/vm/hotspot_vm.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/agent/vm/recorded_threads.h"
#include "jprof/engine/session.h"
#include "jprof/setup/meta.h"
#include "jprof/setup/plan.h"
#include "options/agent_options.h"

namespace jprof::agent {

// Describes the recording that a source belongs to. All of it exists as long as the source.
struct CallContext {
  JavaVM* java;
  jvmtiEnv* jvmti;
  const options::AgentOptions& options;
  const setup::Plan& plan;
  engine::Session& session;
  RecordedThreads& threads;
  bool attached;  // whether the agent begins in a running JVM
};

class CallSource {
 public:
  explicit CallSource(const CallContext& context) : context_(context) {}
  CallSource(const CallSource&) = delete;
  CallSource& operator=(const CallSource&) = delete;
  virtual ~CallSource() = default;

  // Returns what describes the methods.
  virtual engine::MethodSource& methods() = 0;
  // Returns the VM's structures, or null if the source does not read them.
  virtual HotspotVm* vm() { return nullptr; }
  // Returns what meta.json contains about the source. The note may change until it has begun.
  const setup::ProbeMetadata& metadata() const { return metadata_; }
  // Returns whether there are threads, with names, when the source begins.
  virtual bool BeginsAmongThreads() const { return context_.attached; }

  // Requests the capabilities and adds the events, which stay disabled until the source begins.
  virtual Result<void> AddTo(JvmtiEvents&) { return {}; }
  // Begins before the VM runs, if the source can. This is the last step of Agent_OnLoad.
  virtual Result<void> BeginWithJvm() { return {}; }
  // Begins in the live phase, if it has not begun. This is a step of VMInit or, in a running JVM,
  // of Agent_OnAttach. `jni` belongs to the calling thread.
  virtual Result<void> Begin(JNIEnv*) { return {}; }
  // Adds to the profile what is known only when the recording ends. Call this once, before that.
  virtual void Complete() {}
  // Ends the counting and restores the VM's code. After an error the source continues.
  virtual Result<void> End(JNIEnv*) { return {}; }

 protected:
  const CallContext context_;
  setup::ProbeMetadata metadata_;
};

}  // namespace jprof::agent
