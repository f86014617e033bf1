#include "jprof/agent/calls/hotspot_probe.h"

#include "jprof/hookit/hook_recording.h"
#include "jprof/hotspot/probe/compile_focus.h"
#include "jprof/setup/print_message.h"

namespace jprof::agent {
namespace {

// Installs the focus. Without FOCUS all methods are in focus. CLASSMETHODS alone does not affect
// what is compiled.
Result<void> InstallFocus(HotspotVm& hotspot, const hotspot::ProbeTargets& targets,
                          const options::AgentOptions& options, engine::Session& session) {
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  const auto focus = hotspot::CompileFocus::Find(*image, hotspot.structs);
  if (!focus) return std::unexpected(focus.error());
  return (*focus)->Install(targets, &hotspot.vm,
                           options.focus.Empty() ? nullptr : session.options().method_filter,
                           options.keep_intrinsics, session.writer().header());
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
  return HotspotProbe{*targets, image->BuildId(), std::nullopt};
}

Result<void> HotspotProbe::Install(HotspotVm& hotspot, engine::RecordingKind kind,
                                   const options::AgentOptions& options,
                                   engine::Session& session) const {
  bool installed = false;
  if (!options.focus.Empty() || options.keep_intrinsics) {
    const auto done = InstallFocus(hotspot, targets, options, session);
    if (!done) {
      setup::PrintMessage(
          (options.focus.Empty()
               ? "compiled code uses no intrinsics, and all calls are counted: "
               : "methods out of focus are not recorded, but they run with probes: ") +
          done.error().message);
    }
    installed = done.has_value();
    if (installed) session.methods().MarkIntrinsics();
  }
  return InstallProbe(
      hotspot.structs, hotspot.vm, targets, kind,
      {.train = options.train,
       .focused = installed && !options.focus.Empty(),
       .intrinsics = installed && options.keep_intrinsics,
       .beside_hooks = options.hooks == options::Hooks::kYes || hookit::Expected()});
}

Result<void> HotspotProbe::FindLate(const HotspotVm& hotspot) {
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  auto probe = hotspot::LateProbe::Find(*image, hotspot.structs, targets);
  if (!probe) return std::unexpected(probe.error());
  late = *std::move(probe);
  return {};
}

Result<void> HotspotProbe::InstallLate(const HotspotVm& hotspot, engine::RecordingKind kind,
                                       const options::AgentOptions& options, JNIEnv* jni) {
  if (!options.focus.Empty())
    setup::PrintMessage("methods out of focus are not recorded, but they run with probes");
  if (options.keep_intrinsics)
    setup::PrintMessage("compiled code uses no intrinsics, and all calls are counted");
  return late->Install(hotspot.vm, kind, {}, jni);
}

Result<void> HotspotProbe::Remove(JNIEnv* jni) {
  if (!late) return {};
  const auto ended = late->Remove(jni);
  if (!ended) return std::unexpected(ended.error());
  if (!*ended) setup::PrintMessage("a compilation that began before the end is still running");
  late.reset();
  return {};
}

}  // namespace jprof::agent
