// Takes calls from HotSpot's method probes, from the first method on.
#pragma once

#include <memory>
#include <string>

#include "jprof/agent/calls/call_source.h"
#include "jprof/agent/calls/probe_check.h"
#include "jprof/hotspot/probe/caller_sites.h"
#include "jprof/hotspot/probe/probe.h"

namespace jprof::agent {

// Describes HotSpot's probe, before anything is changed. Probes use `vm` as long as they are
// installed.
struct FoundProbe {
  HotspotVm vm;
  hotspot::ProbeTargets targets;
  std::string build_id;  // of libjvm.so

  // Fails if this JVM is not HotSpot, or has no probes that are known.
  static Result<FoundProbe> Find();

  // Makes the handlers record call sites, if the options say so. Call this before the probe is
  // installed; `this` must then stay where it is. Fails if the VM lacks what that needs.
  Result<void> UseCallSites(const CallContext& context);

  std::unique_ptr<hotspot::CallerSites> callers;
  std::unique_ptr<hotspot::Sites> sites;

  // Returns what meta.json contains about the probe. A message reports why counts may be too low.
  setup::ProbeMetadata Metadata() const;
};

class HotspotProbe final : public CallSource {
 public:
  // Fails if FoundProbe::Find fails.
  static Result<std::unique_ptr<CallSource>> Open(const CallContext& context);

  engine::MethodSource& methods() override { return found_.vm.vm; }
  HotspotVm* vm() override { return &found_.vm; }

  Result<void> AddTo(JvmtiEvents& events) override;
  // Makes the VM call the handlers from now on. With FOCUS only the methods in focus are compiled
  // with probes; if that is not possible, all methods are. With KEEP_INTRINSICS alone all methods
  // are, and C2 may use intrinsics; if that is not possible, it uses none. A message reports what
  // is not possible.
  Result<void> BeginWithJvm() override;
  void Complete() override;

 private:
  HotspotProbe(const CallContext& context, FoundProbe found);
  Result<void> Install();
  Result<void> InstallFocus();
  void NoteUnchecked(const std::string& reason);

  FoundProbe found_;
  ProbeCheck check_;
};

}  // namespace jprof::agent
