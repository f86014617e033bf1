#include "jprof/agent/hotspot_probe.h"

#include "jprof/agent/print_message.h"
#include "jprof/hotspot/compile_focus.h"

namespace jprof::agent {
namespace {

Result<void> InstallFocus(HotspotVm& hotspot, const hotspot::ProbeTargets& targets,
                          bool keep_intrinsics, engine::Session& session) {
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  const auto focus = hotspot::CompileFocus::Find(*image, hotspot.structs);
  if (!focus) return std::unexpected(focus.error());
  return (*focus)->Install(targets, &hotspot.vm, session.options().method_filter, keep_intrinsics,
                           session.writer().header());
}

}  // namespace

Result<HotspotVm> HotspotVm::Open() {
  const auto structs = hotspot::VmStructs::Load();
  if (!structs) return WrongUse("this JVM is not HotSpot");
  auto vm = hotspot::Vm::Open(*structs);
  if (!vm) return std::unexpected(vm.error());
  return HotspotVm{*structs, *vm};
}

Result<HotspotProbe> HotspotProbe::Find() {
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  const auto targets = hotspot::FindTargets(*image);
  if (!targets) return std::unexpected(targets.error());
  return HotspotProbe{*targets, image->BuildId()};
}

Result<void> HotspotProbe::Install(HotspotVm& hotspot, engine::RecordingKind kind,
                                   const AgentOptions& options, engine::Session& session) const {
  bool focused = false;
  if (!options.focus.Empty()) {
    const auto installed = InstallFocus(hotspot, targets, options.keep_intrinsics, session);
    if (!installed) {
      PrintMessage("methods outside FOCUS are not recorded, but they run with probes: " +
                   installed.error().message);
    }
    focused = installed.has_value();
  }
  return InstallProbe(hotspot.structs, hotspot.vm, targets, kind,
                      {.train = options.train, .focused = focused});
}

}  // namespace jprof::agent
