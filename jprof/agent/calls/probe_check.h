// Checks that each compiled method calls HotSpot's probe, and records those that do not, because
// their calls are missing from the counts.
#pragma once

#include <jvmti.h>

#include <optional>

#include "common/result.h"
#include "jprof/agent/calls/uncounted.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/hotspot/probe/compiled_probe.h"
#include "jprof/hotspot/probe/probe.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::agent {

// The callback finds this object through InUse, on a thread of the VM.
class ProbeCheck {
 public:
  // Adds the event. Fails if this VM does not report compiled code, or if its structures are
  // not known.
  Result<void> AddTo(JvmtiEvents& events, jvmtiEnv* jvmti, const hotspot::VmStructs& structs,
                     const hotspot::ProbeTargets& targets);
  // Begins to check. Call this after the probe is installed and before anything is compiled.
  // `header` is that of the profile. Fails if this VM does not report compiled code.
  Result<void> Begin(jvmtiEnv* jvmti, profile::ControlHeader& header);
  // Checks all code that exists, because the last compilations may not have been reported.
  void End(jvmtiEnv* jvmti);

 private:
  static void JNICALL OnMethodLoad(jvmtiEnv* jvmti, jmethodID method, jint bytes, const void* code,
                                   jint map_length, const jvmtiAddrLocationMap* map,
                                   const void* compile_info);
  void Add(jvmtiEnv* jvmti, jmethodID method);

  std::optional<hotspot::CompiledProbe> probe_;
  std::optional<Uncounted> uncounted_;  // set by Begin
};

}  // namespace jprof::agent
