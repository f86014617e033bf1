// HotSpot as this process runs it, and its probe, if the recording needs one.
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

  // Error (wrong use): this JVM is not HotSpot; or what this VM lacks.
  static Result<HotspotVm> Open();
};

// Found, but not yet installed. Probes may use `vm` to the very end of the process: never freed.
struct HotspotProbe {
  hotspot::ProbeTargets targets;
  std::string build_id;  // of libjvm.so

  static Result<HotspotProbe> Find();

  // In Agent_OnLoad, as the last step: from now on the VM calls the handlers. With FOCUS only the
  // methods in focus are compiled with probes; where that is not possible, all are, and the user is
  // told.
  Result<void> Install(HotspotVm& hotspot, engine::RecordingKind kind, const AgentOptions& options,
                       engine::Session& session) const;
};

}  // namespace jprof::agent
