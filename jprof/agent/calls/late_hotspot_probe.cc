#include "jprof/agent/calls/late_hotspot_probe.h"

#include <utility>

#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/setup/print_message.h"

namespace jprof::agent {

LateHotspotProbe::LateHotspotProbe(const CallContext& context, FoundProbe found,
                                   hotspot::LateProbe probe)
    : CallSource(context), found_(std::move(found)), probe_(std::move(probe)) {
  metadata_ = found_.Metadata();
}

Result<std::unique_ptr<CallSource>> LateHotspotProbe::Open(const CallContext& context) {
  auto found = FoundProbe::Find();
  if (!found) return std::unexpected(found.error());
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  auto probe = hotspot::LateProbe::Find(*image, found->vm.structs, found->targets);
  if (!probe) return std::unexpected(probe.error());
  return std::unique_ptr<CallSource>(
      new LateHotspotProbe(context, *std::move(found), *std::move(probe)));
}

Result<void> LateHotspotProbe::Begin(JNIEnv* jni) {
  if (!context_.options.focus.Empty())
    setup::PrintMessage("methods out of focus are not recorded, but they run with probes");
  if (context_.options.keep_intrinsics)
    setup::PrintMessage("compiled code uses no intrinsics, and all calls are counted");
  if (auto used = found_.UseCallSites(context_); !used) return used;
  auto installed = probe_->Install(found_.vm.vm, context_.plan.kind,
                                   {.gated = context_.plan.session.limited()}, jni);
  if (installed) context_.threads.RecordWholeThreads();
  return installed;
}

Result<void> LateHotspotProbe::End(JNIEnv* jni) {
  if (!probe_) return {};
  context_.session.ExpectProbesToEnd(true);
  const auto removed = probe_->Remove(jni);
  if (!removed) {
    context_.session.ExpectProbesToEnd(false);
    return std::unexpected(removed.error());
  }
  probe_.reset();
  if (!*removed) setup::PrintMessage("a compilation that began before the end is still running");
  return {};
}

}  // namespace jprof::agent
