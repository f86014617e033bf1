#include "jprof/agent/agent.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <utility>

#include "common/fd.h"
#include "common/no_memory.h"
#include "jprof/agent/lifecycle.h"
#include "jprof/hookit/context_places.h"
#include "jprof/hookit/hook_recording.h"
#include "jprof/setup/meta.h"
#include "jprof/setup/print_message.h"
#include "profile/files/process_context.h"
#include "profile/files/whole_file.h"

namespace jprof::agent {

Agent::Agent(JavaVM* java, JNIEnv* attaching, jvmtiEnv* jvmti, options::AgentOptions options,
             setup::Plan plan, engine::Session* hooks, std::string directory)
    : java_(java),
      attaching_(attaching),
      jvmti_(jvmti),
      options_(std::move(options)),
      plan_(std::move(plan)),
      hooks_(hooks),
      directory_(std::move(directory)) {}

// The profile has its metadata before the first event.
Result<void> Agent::Open() {
  constexpr Result<void> (Agent::*kSteps[])() = {
      &Agent::FindThreads,  &Agent::OpenCalls,      &Agent::OpenJitLog, &Agent::WriteMeta,
      &Agent::BeginWithJvm, &Agent::OpenEventTrace, &Agent::Join,
  };
  for (const auto step : kSteps) {
    if (auto done = (this->*step)(); !done) {
      DisableEvents();
      return done;
    }
  }
  ReportOpened();
  hookit::AwaitTracer();
  hookit::AnnounceContext();
  return {};
}

Result<void> Agent::FindThreads() {
  if (!attached()) return {};
  auto existing = ExistingThreads(attaching_, jvmti_);
  if (!existing) return std::unexpected(existing.error());
  existing_ = *std::move(existing);
  return {};
}

Result<void> Agent::OpenCalls() {
  AddLifecycleEvents(events_);
  if (!plan_.has_session()) return {};
  calls_.emplace(CallRecording::Setting{.java = java_,
                                        .jvmti = jvmti_,
                                        .options = options_,
                                        .plan = plan_,
                                        .hooks = hooks_,
                                        .directory = directory_,
                                        .attached = attached()});
  return calls_->Open(events_, existing_);
}

// A failure is an error only without a call tree; else the recording continues without the log.
Result<void> Agent::OpenJitLog() {
  if (!plan_.jit_log) return {};
  const Fd folder(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto opened = jit_log_.Open(java_, folder.get(), options_.jit_code);
  if (opened || !calls_) return opened;
  setup::PrintMessage(opened.error().message);
  return {};
}

// A failure is an error only with a call tree: the log of jitted code is usable without metadata.
Result<void> Agent::WriteMeta() {
  const setup::ProbeMetadata metadata = calls_ ? calls_->metadata() : setup::ProbeMetadata();
  profile::Jvm jvm = {.name = SystemProperty(jvmti_, "java.vm.name"),
                      .version = SystemProperty(jvmti_, "java.vm.version"),
                      .vendor = SystemProperty(jvmti_, "java.vm.vendor"),
                      .home = SystemProperty(jvmti_, "java.home"),
                      .build_id = metadata.build_id};
  const auto text = ToJson(
      setup::GatherMeta(std::move(jvm), options_, calls_ ? &calls_->session() : nullptr, metadata));
  auto written = profile::WriteWholeFile(directory_ + "/" + profile::kMetaFile, text);
  if (written || calls_) return written;
  setup::PrintMessage(written.error().message + "; the log of jitted code is written");
  return {};
}

Result<void> Agent::BeginWithJvm() {
  events_.Install(jvmti_);
  if (!calls_) return {};
  const std::string note = calls_->metadata().note;
  if (auto begun = calls_->BeginWithJvm(); !begun) return begun;
  if (calls_->metadata().note == note) return {};
  return WriteMeta();
}

// The recording continues without a trace.
Result<void> Agent::OpenEventTrace() {
  if (!plan_.events) return {};
  if (const auto opened = event_trace_.Open(java_, directory_); !opened)
    setup::PrintMessage(opened.error().message);
  return {};
}

Result<void> Agent::Join() {
  if (!attached()) return {};
  auto begun = Begin(attaching_, existing_);
  existing_.clear();
  return begun;
}

// Each part begins, and ends, even if there was no memory for another. The calls that the trace
// itself makes come before woven methods count.
Result<void> Agent::Begin(JNIEnv* jni, std::span<const ExistingThread> threads) {
  NoteIfNoMemory([&] { event_trace_.Begin(jni); });
  Result<void> begun;
  if (calls_) begun = FailWithoutMemory([&] { return calls_->Begin(jni, threads); });
  if (!begun && attached()) {
    event_trace_.RestoreCode(jni);
    return begun;
  }
  NoteIfNoMemory([&] { jit_log_.Begin(jni, threads); });
  if (calls_) NoteIfNoMemory([&] { calls_->BeginSampling(jni); });
  return begun;
}

void Agent::End(JNIEnv* jni) {
  const std::lock_guard guard(ending_);
  if (std::exchange(ended_, true)) return;
  if (calls_) NoteIfNoMemory([&] { calls_->End(jni); });
  NoteIfNoMemory([&] { jit_log_.End(jni); });
  event_trace_.End();
  NoteIfNoMemory([&] { profile::KeepProcessContext(directory_); });
}

void Agent::DisableEvents() {
  events_.Uninstall(jvmti_);
  if (calls_) calls_->DisableEvents();
  jit_log_.DisableEvents();
  event_trace_.DisableEvents();
}

Result<void> Agent::EndAndRestoreCode(JNIEnv* jni) {
  if (calls_) {
    if (auto restored = calls_->RestoreCode(jni); !restored) return restored;
  }
  event_trace_.RestoreCode(jni);
  End(jni);
  DisableEvents();
  return {};
}

void Agent::Close() {
  if (calls_) calls_->Close();
  jit_log_.Close();
  event_trace_.Close();
  jvmti_->DisposeEnvironment();
}

void Agent::LeaveToParent() {
  if (calls_) calls_->LeaveToParent();
}

void Agent::ReportOpened() const {
  if (!options_.verbose) return;
  if (!calls_) return setup::PrintMessage("recording jitted code into " + directory_);
  const ProbeKind kind = calls_->metadata().kind;
  if (kind == ProbeKind::kNone) return setup::PrintMessage("sampling stacks into " + directory_);
  setup::PrintMessage(fmt::format("recording into {} with the {} probe", directory_, NameOf(kind)));
}

}  // namespace jprof::agent
