// Describes this process' HotSpot VM, and its probe if the recording needs one.
#pragma once

#include <jni.h>

#include <optional>
#include <string>

#include "common/result.h"
#include "jprof/engine/recording.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/probe/late_probe.h"
#include "jprof/hotspot/probe/probe.h"
#include "jprof/hotspot/vm/vm.h"
#include "options/agent_options.h"

namespace jprof::agent {

struct HotspotVm {
  hotspot::VmStructs structs;
  hotspot::Vm vm;

  // Fails (wrong use) if this JVM is not HotSpot or lacks a required structure.
  static Result<HotspotVm> Open();
};

// The probe of HotSpot. Probes may use HotspotVm::vm as long as they are installed.
struct HotspotProbe {
  hotspot::ProbeTargets targets;
  std::string build_id;  // of libjvm.so

  static Result<HotspotProbe> Find();

  // Makes the VM call the handlers from now on. Call this as the last step of Agent_OnLoad. With
  // FOCUS only the methods in focus are compiled with probes; if that is not possible, all methods
  // are. With KEEP_INTRINSICS alone all methods are, and C2 may use intrinsics; if that is not
  // possible, it uses none. A message reports what is not possible.
  Result<void> Install(HotspotVm& hotspot, engine::RecordingKind kind,
                       const options::AgentOptions& options, engine::Session& session) const;

  // Install the probe in a running JVM. FindLate checks what that requires, before anything is
  // changed. `jni` belongs to the calling Java thread. The compilers' code cannot be changed
  // while they run, so FOCUS only selects what is recorded, and KEEP_INTRINSICS has no effect; a
  // message reports that.
  Result<void> FindLate(const HotspotVm& hotspot);
  Result<void> InstallLate(const HotspotVm& hotspot, engine::RecordingKind kind,
                           const options::AgentOptions& options, JNIEnv* jni);
  // Removes what InstallLate has installed, if anything. No thread is in a probe afterwards. After
  // an error nothing has been changed.
  Result<void> Remove(JNIEnv* jni);

  std::optional<hotspot::LateProbe> late = std::nullopt;
};

}  // namespace jprof::agent
