#include "jprof/agent/calls/hotspot_probe.h"

#include <utility>

#include "jprof/hookit/hook_recording.h"
#include "jprof/hotspot/probe/compile_focus.h"
#include "jprof/hotspot/probe/probe_globals.h"
#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/setup/print_message.h"

namespace jprof::agent {
namespace {

// Returns why counts may be too low although there are probes, or an empty text if they are
// complete.
std::string MissingCalls(const hotspot::VmStructs& structs) {
  if (!hotspot::Vm::IsOn(structs, "UseJVMCICompiler")) return "";
  return "calls in compiled code may be missing: it is not known whether the compiler of "
         "-XX:+UseJVMCICompiler emits probes (--probe jvmti, PROBE=jvmti, counts all calls)";
}

}  // namespace

Result<FoundProbe> FoundProbe::Find() {
  auto vm = HotspotVm::Open();
  if (!vm) return std::unexpected(vm.error());
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  const auto targets = hotspot::FindTargets(*image);
  if (!targets) return std::unexpected(targets.error());
  return FoundProbe{*std::move(vm), *targets, image->BuildId(), nullptr, nullptr};
}

Result<void> FoundProbe::UseCallSites(const CallContext& context) {
  if (!context.options.call_sites) return {};
  auto found = hotspot::CallerSites::Open(vm.structs);
  if (!found) return std::unexpected(found.error());
  callers = *std::move(found);
  sites = std::make_unique<hotspot::Sites>(vm.vm);
  context.session.SetSites(sites.get());
  hotspot::probe_globals.callers = callers.get();
  return {};
}

setup::ProbeMetadata FoundProbe::Metadata() const {
  setup::ProbeMetadata metadata = {ProbeKind::kHotspot, MissingCalls(vm.structs), build_id};
  if (!metadata.note.empty()) setup::PrintMessage(metadata.note);
  return metadata;
}

HotspotProbe::HotspotProbe(const CallContext& context, FoundProbe found)
    : CallSource(context), found_(std::move(found)) {
  metadata_ = found_.Metadata();
}

Result<std::unique_ptr<CallSource>> HotspotProbe::Open(const CallContext& context) {
  auto found = FoundProbe::Find();
  if (!found) return std::unexpected(found.error());
  return std::unique_ptr<CallSource>(new HotspotProbe(context, *std::move(found)));
}

// With FOCUS most methods are compiled without probes, so compiled code is not checked.
Result<void> HotspotProbe::AddTo(JvmtiEvents& events) {
  if (!context_.options.focus.Empty()) return {};
  const auto added = check_.AddTo(events, context_.jvmti, found_.vm.structs, found_.targets);
  if (!added) NoteUnchecked(added.error().message);
  return {};
}

// Notes the reason in the profile's head, unless it has another one. The recording continues.
void HotspotProbe::NoteUnchecked(const std::string& reason) {
  if (!metadata_.note.empty()) return;
  metadata_.note = "calls in compiled code may be missing: " + reason;
  setup::PrintMessage(metadata_.note);
}

Result<void> HotspotProbe::BeginWithJvm() {
  if (auto installed = Install(); !installed) return installed;
  const auto checked = check_.Begin(context_.jvmti, *context_.session.writer().header());
  if (!checked) NoteUnchecked(checked.error().message);
  return {};
}

Result<void> HotspotProbe::Install() {
  if (auto used = found_.UseCallSites(context_); !used) return used;
  const options::AgentOptions& options = context_.options;
  bool focused = false;
  if (!options.focus.Empty() || options.keep_intrinsics) {
    const auto done = InstallFocus();
    if (!done) {
      setup::PrintMessage(
          (options.focus.Empty()
               ? "compiled code uses no intrinsics, and all calls are counted: "
               : "methods out of focus are not recorded, but they run with probes: ") +
          done.error().message);
    }
    focused = done.has_value();
    if (focused) context_.session.methods().MarkIntrinsics();
  }
  return InstallProbe(
      found_.vm.structs, found_.vm.vm, found_.targets, context_.plan.kind,
      {.train = options.train,
       .focused = focused && !options.focus.Empty(),
       .gated = context_.plan.session.limited(),
       .intrinsics = focused && options.keep_intrinsics,
       .beside_hooks = options.hooks == options::Hooks::kYes || hookit::Expected()});
}

// Installs the focus. Without FOCUS all methods are in focus. CLASSMETHODS alone does not affect
// what is compiled.
Result<void> HotspotProbe::InstallFocus() {
  const options::AgentOptions& options = context_.options;
  engine::Session& session = context_.session;
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  const auto focus = hotspot::CompileFocus::Find(*image, found_.vm.structs);
  if (!focus) return std::unexpected(focus.error());
  return (*focus)->Install(found_.targets, &found_.vm.vm,
                           options.focus.Empty() ? nullptr : session.options().method_filter,
                           options.keep_intrinsics, session.writer().header());
}

void HotspotProbe::Complete() { check_.End(context_.jvmti); }

}  // namespace jprof::agent
