// This process' HotSpot VM, and its probe if the recording needs one.
#pragma once

#include <string>

#include "common/result.h"
#include "jprof/engine/recording.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/probe.h"
#include "jprof/hotspot/vm.h"
#include "options/agent_options.h"

namespace jprof::agent {

struct HotspotVm {
  hotspot::VmStructs structs;
  hotspot::Vm vm;

  // Error (wrong use): this JVM is not HotSpot, or lacks a required structure.
  static Result<HotspotVm> Open();
};

// Finds the probe without installing it. Probes may use `vm` until the process ends: never freed.
struct HotspotProbe {
  hotspot::ProbeTargets targets;
  std::string build_id;  // of libjvm.so

  static Result<HotspotProbe> Find();

  // Call as the last step of Agent_OnLoad: the VM calls the handlers from now on. With FOCUS only
  // the methods in focus are compiled with probes; if that is not possible, all methods are. With
  // KEEP_INTRINSICS alone all methods are, and C2 may use intrinsics; if that is not possible, it
  // uses none. A message reports what is not possible.
  Result<void> Install(HotspotVm& hotspot, engine::RecordingKind kind, const AgentOptions& options,
                       engine::Session& session) const;
};

}  // namespace jprof::agent
