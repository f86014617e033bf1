#include "jprof/agent/agent.h"

#include <fcntl.h>

#include <utility>

#include "common/fd.h"
#include "jprof/agent/lifecycle.h"
#include "jprof/agent/sampling_commands.h"
#include "jprof/agent/start.h"
#include "jprof/hookit/hook_recording.h"
#include "jprof/setup/print_message.h"
#include "jprof/setup/profile_directory.h"
#include "options/woven_jdks.h"
#include "profile/files/whole_file.h"

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

bool JoinsHooks(const setup::Plan& plan) {
  const hookit::OwnRecording& hooks = hookit::Own();
  return hooks.session != nullptr && plan.source == setup::Source::kProbe &&
         hooks.kind == plan.kind;
}

Agent::Agent(JavaVM* java_vm, JNIEnv* jni_env, jvmtiEnv* env, options::AgentOptions parsed,
             setup::Plan planned, std::string made)
    : java(java_vm),
      jvmti(env),
      options(std::move(parsed)),
      plan(std::move(planned)),
      directory(std::move(made)),
      own_session_(JoinsHooks(plan) ? nullptr : new engine::Session),
      session(own_session_ ? *own_session_ : *hookit::Own().session),
      java_threads(env),
      method_reuse(session),
      jni_(jni_env) {}

// Steps that may fail come first, before a file is written. Some capabilities are available only in
// Agent_OnLoad. The profile has its metadata before the first event. The probe is late, because the
// VM calls it as soon as it is installed.
Result<void> Agent::Start() {
  constexpr Result<void> (Agent::*kSteps[])() = {
      &Agent::OpenVm,       &Agent::OpenSampling, &Agent::CollectEvents, &Agent::StartSession,
      &Agent::StartJitLog,  &Agent::WriteMeta,    &Agent::Listen,        &Agent::EnableEvents,
      &Agent::InstallProbe, &Agent::Join,
  };
  for (const auto step : kSteps) {
    if (auto done = (this->*step)(); !done) {
      DisableEvents();
      return done;
    }
  }
  ReportStarted();
  hookit::AwaitTracer();
  return {};
}

Result<void> Agent::OpenVm() {
  if (attached()) {
    auto existing = ExistingThreads(jni_, jvmti);
    if (!existing) return std::unexpected(existing.error());
    existing_ = *std::move(existing);
  }
  switch (plan.source) {
    case setup::Source::kNone:
      return {};
    case setup::Source::kProbe:
      return OpenProbe();
    case setup::Source::kWoven:
      return OpenWoven();
    case setup::Source::kSamples:
      break;
  }
  auto found = HotspotVm::Open();
  if (!found && found.error().kind == Error::Kind::kWrongUse)
    return WrongUse("SCS needs HotSpot: {}", found.error().message);
  if (!found) return std::unexpected(found.error());
  hotspot = std::make_unique<HotspotVm>(*std::move(found));
  return {};
}

Result<void> Agent::OpenWoven() {
  auto vm = HotspotVm::Open();
  if (!vm) return WrongUse("COUNTER=woven: {}; use COUNTER=probe", vm.error().message);
  if (auto none = CheckNoArchive(vm->structs); !none)
    return Fail("{}; use COUNTER=probe, or a run without that option", none.error().message);
  hotspot = std::make_unique<HotspotVm>(*std::move(vm));
  if (auto known = options::CheckWovenJdk(MajorVersion(java)); !known)
    return WrongUse("COUNTER=woven: {}; use COUNTER=probe", known.error().message);
  auto opened = WovenCounter::Open(jvmti, hotspot->structs, session, attached());
  if (!opened) return WrongUse("COUNTER=woven: {}; use COUNTER=probe", opened.error().message);
  woven = *std::move(opened);
  probe_facts_ = {ProbeKind::kWoven,
                  "native methods, intrinsics and hidden classes are not counted", ""};
  return {};
}

// Uses HotSpot's probe, or JVMTI's if the plan allows it.
Result<void> Agent::OpenProbe() {
  const Result<void> found =
      plan.hotspot_probe ? FindHotspotProbe() : Fail("requested by PROBE=jvmti");
  if (found) {
    probe_facts_ = {ProbeKind::kHotspot, MissingCalls(hotspot->structs), hotspot_probe->build_id};
    if (!probe_facts_.note.empty()) setup::PrintMessage(probe_facts_.note);
    if (auto checked = CheckCompiledCode(); !checked) NoteUnchecked(checked.error().message);
    return {};
  }
  const std::string& reason = found.error().message;
  if (attached()) {  // the capabilities of the other source are available only when the JVM starts
    return WrongUse("no HotSpot probe: {}; start the program with `jprof callflow -- java ...`",
                    reason);
  }
  if (!plan.jvmti_probe) return WrongUse("no HotSpot probe: {}; use PROBE=auto", reason);
  if (plan.sampling) return WrongUse("SAMPLE needs HotSpot's probe: {}", reason);
  probe_facts_ = {ProbeKind::kJvmti, reason, ""};
  jvmti_probe = std::make_unique<JvmtiProbe>(jvmti);
  setup::PrintMessage("recording with JVMTI events, which is slow: " + reason);
  return {};
}

// With FOCUS most methods are compiled without probes. In a running JVM, code that was compiled
// earlier has none either, and is discarded.
Result<void> Agent::CheckCompiledCode() {
  if (attached() || !options.focus.Empty()) return {};
  return probe_check.AddTo(events_, jvmti, hotspot->structs, hotspot_probe->targets);
}

// Notes the reason in the profile's head, unless it has another one. The recording continues.
void Agent::NoteUnchecked(const std::string& reason) {
  if (!probe_facts_.note.empty()) return;
  probe_facts_.note = "calls in compiled code may be missing: " + reason;
  setup::PrintMessage(probe_facts_.note);
}

Result<void> Agent::FindHotspotProbe() {
  auto vm = HotspotVm::Open();
  if (!vm) return std::unexpected(vm.error());
  auto probe = HotspotProbe::Find();
  if (!probe) return std::unexpected(probe.error());
  hotspot = std::make_unique<HotspotVm>(*std::move(vm));
  hotspot_probe = std::make_unique<HotspotProbe>(*std::move(probe));
  if (attached()) return hotspot_probe->FindLate(*hotspot);
  return {};
}

Result<void> Agent::OpenSampling() {
  if (!plan.sampling) return {};
  auto opened = Sampling::Open(options, *hotspot, session);
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
  if (woven != nullptr) woven->AddTo(events_);
  AddLifecycleEvents(events_);
  method_reuse.AddTo(events_, jvmti, hotspot ? &hotspot->structs : nullptr);
  return {};
}

Result<void> Agent::StartSession() {
  if (!plan.has_session()) return {};
  engine::MethodSource* source = jvmti_probe.get();
  if (woven != nullptr) source = &woven->methods();
  if (source == nullptr) source = &hotspot->vm;
  if (joins_hooks()) {
    session.SetVm(source, MethodFilter(options, jdk_packages));
    started_ = true;
    return {};
  }
  engine::SessionOptions session_options = plan.session;
  session_options.files.directory = directory;
  session_options.files.directory_is_made = true;
  session_options.method_filter = MethodFilter(options, jdk_packages);
  if (attached()) ReadNames(existing_);
  session_options.joins_late = attached();
  if (attached() || woven != nullptr) session_options.name_of = EarlyNames();
  auto begun = session.Start(std::move(session_options), source);
  started_ = begun.has_value();
  if (started_ && plan.source == setup::Source::kProbe && !attached() &&
      options.hooks != options::Hooks::kNo)
    hookit::Join(session, plan.kind, options.train);
  return begun;
}

void Agent::ReadNames(const std::vector<ExistingThread>& threads) {
  for (const ExistingThread& thread : threads) early_names_[thread.native.tid] = thread.name;
}

// Returns a function that finds the names of threads that exist when their recording begins. They
// are named as soon as they are recorded.
std::function<std::string_view(uint32_t)> Agent::EarlyNames() const {
  return [this](uint32_t tid) {
    const auto found = early_names_.find(tid);
    return found != early_names_.end() ? std::string_view(found->second) : std::string_view();
  };
}

Result<void> Agent::BeginWoven(JNIEnv* jni) {
  if (woven == nullptr) return {};
  if (plan.focus && attached()) StartFocus(jni, jdk_packages);
  if (!attached()) {
    if (const auto existing = ExistingThreads(jni, jvmti)) ReadNames(*existing);
  }
  return woven->Begin(jni);
}

// A failure is an error only without a call tree; else the recording continues without the log.
Result<void> Agent::StartJitLog() {
  if (!plan.jit_log) return {};
  const Fd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto started = jit_log.Start(java, folder.get(), options.jit_code);
  if (started || !plan.has_session()) return started;
  setup::PrintMessage(started.error().message);
  return {};
}

// A failure is an error only with a call tree: the log of jitted code is usable without metadata.
Result<void> Agent::WriteMeta() {
  const engine::Session* recorded = plan.has_session() ? &session : nullptr;
  profile::Jvm jvm = {.name = SystemProperty(jvmti, "java.vm.name"),
                      .version = SystemProperty(jvmti, "java.vm.version"),
                      .vendor = SystemProperty(jvmti, "java.vm.vendor"),
                      .home = SystemProperty(jvmti, "java.home"),
                      .build_id = probe_facts_.build_id};
  const auto text = ToJson(setup::GatherMeta(std::move(jvm), options, recorded, probe_facts_));
  auto written = profile::WriteWholeFile(directory + "/" + profile::kMetaFile, text);
  if (written || plan.has_session()) return written;
  setup::PrintMessage(written.error().message + "; the log of jitted code is written");
  return {};
}

// Listens for `jprof ctl`. Sampling works even if this fails.
Result<void> Agent::Listen() {
  if (sampling == nullptr) return {};
  auto commands = SamplingCommands(options, *sampling, session, setup::FullPath(directory));
  if (const auto listens = control.Begin(std::move(commands)); !listens) {
    setup::PrintMessage(listens.error().message + "; sampling continues without `jprof ctl`");
  }
  return {};
}

Result<void> Agent::EnableEvents() {
  if (!plan.has_session()) return {};
  if (plan.source == setup::Source::kSamples ||
      (plan.source == setup::Source::kWoven && plan.sampling)) {
    // Compilers then describe all locations in their code, not only safepoints.
    uint8_t* const flag = hotspot::Vm::Flag(hotspot->structs, "DebugNonSafepoints");
    if (flag != nullptr) {
      debug_info_before_ = std::exchange(*flag, 1);
      sets_debug_info_ = true;
    }
  }
  events_.Install(jvmti);
  if (vm_triggers != nullptr) vm_triggers->Enable();
  if (plan.virtual_thread_names) virtual_threads_ = ReportVirtualThreads(java);
  return {};
}

Result<void> Agent::InstallProbe() {
  if (hotspot_probe == nullptr) return {};
  if (attached()) {
    if (plan.focus) StartFocus(jni_, jdk_packages);
    auto installed = hotspot_probe->InstallLate(*hotspot, plan.kind, options, jni_);
    probed_ = installed.has_value();
    return installed;
  }
  auto installed = hotspot_probe->Install(*hotspot, plan.kind, options, session);
  if (!installed) return installed;
  const auto checked = probe_check.Begin(jvmti, *session.writer().header());
  if (checked) return {};
  NoteUnchecked(checked.error().message);
  return WriteMeta();
}

// Does for a running JVM what OnVmInit does when a JVM starts.
Result<void> Agent::Join() {
  if (!attached()) return {};
  if (sampling != nullptr) JoinSampling(existing_);  // first: counting makes states of threads too
  if (auto begun = BeginWoven(jni_); !begun) return begun;
  if (plan.jit_log) jit_log.Join(jni_, existing_);
  if (sampling != nullptr) sampling->Begin();
  existing_.clear();
  return {};
}

// Samples the threads that exist. Events are enabled already, so that threads are not missed: a
// thread may have begun, or ended, since the list was made.
void Agent::JoinSampling(const std::vector<ExistingThread>& threads) {
  sampling->ReserveEarlyThreads(threads.size());
  for (const ExistingThread& thread : threads) {
    engine::Thread* state = session.AttachOther(thread.native.tid);
    if (state == nullptr) continue;
    session.Name(state, thread.name);
    java_threads.Keep(thread.java, reinterpret_cast<uintptr_t>(state));
    sampling->AddEarlyThread(*state, thread.vm_thread, thread.native.stack);
  }
}

// Names the running threads as they are called now. A thread that ends in the meantime is not
// freed.
void Agent::NameThreads(JNIEnv* jni) {
  const engine::Session::Hold hold(session);
  java_threads.ForEachKept(jni, [&](uintptr_t thread, const std::string& name) {
    session.Name(reinterpret_cast<engine::Thread*>(thread), name);
  });
}

void Agent::EndRecording(JNIEnv* jni) {
  const std::lock_guard guard(ending_);
  if (ended_) return;
  ended_ = true;
  if (started_) NameThreads(jni);
  control.End();
  if (sampling != nullptr) sampling->Stop();
  probe_check.End(jvmti);
  if (started_ && !joins_hooks()) session.Finish();
  if (woven != nullptr && options.verbose) setup::PrintMessage(woven->Summary());
}

void Agent::DisableEvents() {
  events_.Uninstall(jvmti);
  if (vm_triggers != nullptr) vm_triggers->Disable();
  if (virtual_threads_ != nullptr) DisableVirtualThreads(virtual_threads_);
  method_reuse.Unhook(jvmti);
  jit_log.Disable();
}

Result<void> Agent::Withdraw(JNIEnv* jni) {
  if (hotspot_probe != nullptr) {
    session.ExpectProbesToEnd(true);
    if (auto removed = hotspot_probe->Remove(jni); !removed) {
      session.ExpectProbesToEnd(false);
      return removed;
    }
  }
  if (sampling != nullptr) sampling->End();
  if (woven != nullptr) woven->End(jni);
  if (plan.jit_log) jit_log.End(jni);
  EndRecording(jni);
  DisableEvents();
  return {};
}

void Agent::Remove() {
  control.End();
  if (sampling != nullptr) sampling->End();
  vm_triggers.reset();
  if (started_ && !joins_hooks()) session.Close();
  if (sampling != nullptr) sampling->RestoreSignals();
  if (sets_debug_info_)
    *hotspot::Vm::Flag(hotspot->structs, "DebugNonSafepoints") = debug_info_before_;
  jit_log.Abandon();
  if (virtual_threads_ != nullptr) virtual_threads_->DisposeEnvironment();
  jvmti->DisposeEnvironment();
}

void Agent::ReportStarted() const {
  if (!options.verbose) return;
  switch (plan.source) {
    case setup::Source::kNone:
      return setup::PrintMessage("recording jitted code into " + directory);
    case setup::Source::kSamples:
      return setup::PrintMessage("sampling stacks into " + directory);
    case setup::Source::kProbe:
    case setup::Source::kWoven:
      return setup::PrintMessage(
          fmt::format("recording into {} with the {} probe", directory, NameOf(probe_facts_.kind)));
  }
}

}  // namespace jprof::agent
