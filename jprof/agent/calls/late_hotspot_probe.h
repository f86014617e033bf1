// Takes calls from HotSpot's method probes in a running JVM. The compilers' code cannot be changed
// while they run, so FOCUS only selects what is recorded, and KEEP_INTRINSICS has no effect; a
// message reports that.
#pragma once

#include <memory>
#include <optional>

#include "jprof/agent/calls/hotspot_probe.h"
#include "jprof/hotspot/probe/late_probe.h"

namespace jprof::agent {

class LateHotspotProbe final : public CallSource {
 public:
  // Fails if FoundProbe::Find fails, if this VM lacks what a late probe requires, or if it was
  // started with probes.
  static Result<std::unique_ptr<CallSource>> Open(const CallContext& context);

  engine::MethodSource& methods() override { return found_.vm.vm; }
  HotspotVm* vm() override { return &found_.vm; }

  Result<void> Begin(JNIEnv* jni) override;
  // No thread is in a probe afterwards. After an error nothing has been changed. After the first
  // success it does nothing.
  Result<void> End(JNIEnv* jni) override;

 private:
  LateHotspotProbe(const CallContext& context, FoundProbe found, hotspot::LateProbe probe);

  FoundProbe found_;
  std::optional<hotspot::LateProbe> probe_;  // empty once it is removed
};

}  // namespace jprof::agent
