#include "jprof/agent/agent.h"

#include <fcntl.h>

#include <cstdlib>
#include <utility>

#include "common/fd.h"
#include "jprof/agent/lifecycle.h"
#include "jprof/agent/print_message.h"
#include "jprof/agent/sampling_commands.h"
#include "profile/whole_file.h"

namespace jprof::agent {
namespace {

std::string FullPath(const std::string& path) {
  char* full = realpath(path.c_str(), nullptr);
  std::string result = full != nullptr ? full : path;
  std::free(full);
  return result;
}

}  // namespace

Agent::Agent(JavaVM* java_vm, jvmtiEnv* env, AgentOptions parsed, Plan planned, std::string made)
    : java(java_vm),
      jvmti(env),
      options(std::move(parsed)),
      plan(std::move(planned)),
      directory(std::move(made)),
      java_threads(env),
      method_reuse(session) {}

// Steps that may fail come first, before a file is written. Capabilities are available only in
// Agent_OnLoad. The profile has its metadata before the first event. The probe is last, because the
// VM calls it as soon as it is installed.
Result<void> Agent::Start() {
  constexpr Result<void> (Agent::*kSteps[])() = {
      &Agent::OpenVm,       &Agent::OpenSampling, &Agent::CollectEvents,
      &Agent::StartSession, &Agent::StartJitLog,  &Agent::WriteMeta,
      &Agent::Listen,       &Agent::EnableEvents, &Agent::InstallProbe,
  };
  for (const auto step : kSteps) {
    if (auto done = (this->*step)(); !done) {
      Abandon();
      return done;
    }
  }
  ReportStarted();
  return {};
}

void Agent::Abandon() {
  control.Stop();
  if (sampling != nullptr) sampling->RestoreSignals();
  jit_log.Abandon();
  if (virtual_threads_ != nullptr) virtual_threads_->DisposeEnvironment();
  vm_triggers.reset();
  method_reuse.Unhook(jvmti);
  jvmti->DisposeEnvironment();
}

Result<void> Agent::OpenVm() {
  switch (plan.source) {
    case Source::kNone:
      return {};
    case Source::kProbe:
      return OpenProbe();
    case Source::kSamples:
      break;
  }
  auto found = HotspotVm::Open();
  if (!found && found.error().kind == Error::Kind::kWrongUse)
    return WrongUse("SCS needs HotSpot: {}", found.error().message);
  if (!found) return std::unexpected(found.error());
  hotspot = std::make_unique<HotspotVm>(*std::move(found));
  return {};
}

// Uses HotSpot's probe, or JVMTI's if the plan allows it.
Result<void> Agent::OpenProbe() {
  const Result<void> found =
      plan.hotspot_probe ? FindHotspotProbe() : Fail("requested by PROBE=jvmti");
  if (found) {
    probe_facts_ = {"hotspot", "", hotspot_probe->build_id};
    return {};
  }
  const std::string& reason = found.error().message;
  if (!plan.jvmti_probe) return WrongUse("no HotSpot probe: {}; use PROBE=auto", reason);
  if (plan.sampling) return WrongUse("SAMPLE needs HotSpot's probe: {}", reason);
  probe_facts_ = {"jvmti", reason, ""};
  jvmti_probe = std::make_unique<JvmtiProbe>(jvmti);
  PrintMessage("recording with JVMTI events, which is slow: " + reason);
  return {};
}

Result<void> Agent::FindHotspotProbe() {
  auto vm = HotspotVm::Open();
  if (!vm) return std::unexpected(vm.error());
  auto probe = HotspotProbe::Find();
  if (!probe) return std::unexpected(probe.error());
  hotspot = std::make_unique<HotspotVm>(*std::move(vm));
  hotspot_probe = std::make_unique<HotspotProbe>(*std::move(probe));
  return {};
}

Result<void> Agent::OpenSampling() {
  if (!plan.sampling) return {};
  auto opened = Sampling::Open(options, hotspot->structs, session);
  if (!opened) return std::unexpected(opened.error());
  sampling = *std::move(opened);
  if (plan.vm_triggers) {
    vm_triggers = std::make_unique<VmTriggers>(options.triggers, *sampling, options.object_info);
  }
  return sampling->InstallSignals();
}

Result<void> Agent::CollectEvents() {
  if (!plan.has_session()) return {};
  if (vm_triggers != nullptr) {
    if (auto added = vm_triggers->Open(java); !added) return added;
  }
  if (jvmti_probe != nullptr) {
    if (auto added = jvmti_probe->AddTo(events_, plan.kind, options.train); !added) return added;
  }
  AddLifecycleEvents(events_);
  method_reuse.AddTo(events_, jvmti);
  return {};
}

Result<void> Agent::StartSession() {
  if (!plan.has_session()) return {};
  engine::SessionOptions session_options = plan.session;
  session_options.files.directory = directory;
  session_options.files.directory_is_made = true;
  session_options.method_filter = MethodFilter(options, jdk_packages);
  engine::MethodSource* source = jvmti_probe.get();
  if (source == nullptr) source = &hotspot->vm;
  return session.Start(std::move(session_options), source);
}

// A failure is an error only without a call tree; else the recording continues without the log.
Result<void> Agent::StartJitLog() {
  if (!plan.jit_log) return {};
  const Fd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto started = jit_log.Start(java, folder.get(), options.jit_code);
  if (started || !plan.has_session()) return started;
  PrintMessage(started.error().message);
  return {};
}

// A failure is an error only with a call tree: the log of jitted code is usable without metadata.
Result<void> Agent::WriteMeta() {
  const engine::Session* recorded = plan.has_session() ? &session : nullptr;
  const auto text = ToJson(GatherMeta(jvmti, options, recorded, probe_facts_));
  auto written = profile::WriteWholeFile(directory + "/" + profile::kMetaFile, text);
  if (written || plan.has_session()) return written;
  PrintMessage(written.error().message + "; the log of jitted code is written");
  return {};
}

// Listens for `jprof ctl`. Sampling works even if this fails.
Result<void> Agent::Listen() {
  if (sampling == nullptr) return {};
  auto commands = SamplingCommands(options, *sampling, session, FullPath(directory));
  if (const auto listens = control.Start(std::move(commands)); !listens) {
    PrintMessage(listens.error().message + "; sampling continues without `jprof ctl`");
  }
  return {};
}

Result<void> Agent::EnableEvents() {
  if (!plan.has_session()) return {};
  if (plan.source == Source::kSamples) {
    // Compilers then describe all locations in their code, not only safepoints.
    uint8_t* const flag = hotspot::Vm::Flag(hotspot->structs, "DebugNonSafepoints");
    if (flag != nullptr) *flag = 1;
  }
  events_.Install(jvmti);
  if (vm_triggers != nullptr) vm_triggers->Enable();
  if (plan.virtual_thread_names) virtual_threads_ = ReportVirtualThreads(java);
  return {};
}

Result<void> Agent::InstallProbe() {
  if (hotspot_probe == nullptr) return {};
  return hotspot_probe->Install(*hotspot, plan.kind, options, session);
}

void Agent::ReportStarted() const {
  if (!options.verbose) return;
  switch (plan.source) {
    case Source::kNone:
      return PrintMessage("recording jitted code into " + directory);
    case Source::kSamples:
      return PrintMessage("sampling stacks into " + directory);
    case Source::kProbe:
      return PrintMessage("recording into " + directory + " with the " + probe_facts_.kind +
                          " probe");
  }
}

}  // namespace jprof::agent
