#include "jprof/agent/calls/call_sources.h"

#include "jprof/agent/calls/hotspot_probe.h"
#include "jprof/agent/calls/jvmti_probe.h"
#include "jprof/agent/calls/late_hotspot_probe.h"
#include "jprof/agent/calls/sampled_stacks.h"
#include "jprof/agent/calls/woven_counter.h"

namespace jprof::agent {
namespace {

using Opened = Result<std::unique_ptr<CallSource>>;

Opened OpenHotspotProbe(const CallContext& context) {
  if (!context.plan.hotspot_probe) return Fail("requested by PROBE=jvmti");
  return context.attached ? LateHotspotProbe::Open(context) : HotspotProbe::Open(context);
}

// Opens HotSpot's probe, or JVMTI's if the plan allows it.
Opened OpenProbe(const CallContext& context) {
  auto probe = OpenHotspotProbe(context);
  if (probe) return probe;
  const std::string& reason = probe.error().message;
  if (context.attached) {  // the capabilities of JVMTI's are available only when the JVM starts
    return WrongUse("no HotSpot probe: {}; start the program with `jprof callflow -- java ...`",
                    reason);
  }
  if (!context.plan.jvmti_probe) return WrongUse("no HotSpot probe: {}; use PROBE=auto", reason);
  if (context.plan.sampling) return WrongUse("SAMPLE needs HotSpot's probe: {}", reason);
  if (context.options.call_sites) return WrongUse("CALL_SITES needs HotSpot's probe: {}", reason);
  return std::make_unique<JvmtiProbe>(context, reason);
}

}  // namespace

Opened OpenCallSource(const CallContext& context) {
  switch (context.plan.source) {
    case setup::Source::kWoven:
      return WovenCounter::Open(context);
    case setup::Source::kSamples:
      return SampledStacks::Open(context);
    default:
      return OpenProbe(context);
  }
}

}  // namespace jprof::agent
