#include "jprof/agent/call_recording.h"

#include <utility>

#include "jprof/agent/calls/call_sources.h"
#include "jprof/agent/gate_commands.h"
#include "jprof/agent/sampling_commands.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/setup/print_message.h"
#include "jprof/setup/profile_directory.h"

namespace jprof::agent {

CallRecording::CallRecording(const Setting& setting)
    : setting_(setting),
      session_(setting.plan, setting.hooks),
      focus_(setting.options),
      threads_(session(), setting.jvmti, setting.attached),
      method_reuse_(session()),
      labels_(setting.java, setting.plan, setting.options.train) {
  Publish(session());
}

// Steps that may fail come first, before a file is written. Some capabilities are available only in
// Agent_OnLoad.
Result<void> CallRecording::Open(JvmtiEvents& events, std::span<const ExistingThread> threads) {
  auto source = OpenCallSource({.java = setting_.java,
                                .jvmti = setting_.jvmti,
                                .options = setting_.options,
                                .plan = setting_.plan,
                                .session = session(),
                                .threads = threads_,
                                .attached = setting_.attached});
  if (!source) return std::unexpected(source.error());
  source_ = *std::move(source);
  if (auto opened = OpenSampling(); !opened) return opened;
  if (auto opened = OpenObjects(); !opened) return opened;
  if (auto added = source_->AddTo(events); !added) return added;
  threads_.AddTo(events);
  method_reuse_.AddTo(events, setting_.jvmti, source_->vm());
  threads_.SetEarlyNames(threads);
  return BeginSession();
}

Result<void> CallRecording::OpenSampling() {
  if (!setting_.plan.sampling) return {};
  auto opened = Sampling::Open({.java = setting_.java,
                                .options = setting_.options,
                                .plan = setting_.plan,
                                .hotspot = *source_->vm(),
                                .session = session(),
                                .threads = threads_});
  if (!opened) return std::unexpected(opened.error());
  sampling_ = *std::move(opened);
  threads_.AddFollower(*sampling_);
  return {};
}

Result<void> CallRecording::OpenObjects() {
  if (!setting_.plan.objects) return {};
  auto opened = ObjectRecording::Open({.java = setting_.java,
                                       .jvmti = setting_.jvmti,
                                       .options = setting_.options,
                                       .vm = *source_->vm(),
                                       .session = session(),
                                       .woven = setting_.plan.source == setup::Source::kWoven,
                                       .attached = setting_.attached,
                                       .java_version = MajorVersion(setting_.java)});
  if (!opened) return std::unexpected(opened.error());
  objects_ = *std::move(opened);
  threads_.AddFollower(*objects_);
  return {};
}

Result<void> CallRecording::BeginSession() {
  engine::SessionOptions options = setting_.plan.session;
  options.files.directory = setting_.directory;
  options.files.directory_is_made = true;
  options.method_filter = focus_.MethodFilter();
  options.joins_late = setting_.attached;
  if (source_->BeginsAmongThreads()) options.name_of = threads_.EarlyNames();
  const bool with_functions = setting_.plan.functions && !setting_.attached;
  return session_.Begin(std::move(options), source_->methods(), with_functions);
}

// The probe is last, because the VM calls it as soon as it is installed.
Result<void> CallRecording::BeginWithJvm() {
  Listen();
  if (sampling_) sampling_->BeginEvents();
  if (auto begun = source_->BeginWithJvm(); !begun || !objects_) return begun;
  return objects_->BeginWithJvm();
}

// Listens for `jprof ctl`, if it can start and stop the recording. All else works even if this
// fails.
void CallRecording::Listen() {
  const std::string directory = setup::FullPath(setting_.directory);
  if (!sampling_ && !setting_.plan.session.begins_paused) return;
  auto commands = sampling_ ? SamplingCommands(setting_.options, *sampling_, session(), directory)
                            : GateCommands(setting_.options, session(), directory);
  if (const auto listens = control_.Begin(std::move(commands)); !listens)
    setup::PrintMessage(listens.error().message + "; recording continues without `jprof ctl`");
}

// Returns what starts and stops samples or, without these, calls. Woven methods cannot be stopped.
RecordingCommands CallRecording::Commands() {
  if (sampling_) return {[this] { sampling_->Start(); }, [this] { sampling_->Stop(); }};
  if (setting_.plan.source != setup::Source::kProbe || setting_.plan.objects) return {};
  engine::Gate& gate = session().gate();
  return {[&gate] { gate.Start(); }, [&gate] { gate.Stop(); }};
}

// The threads come before the source, because counting makes states of threads, too.
Result<void> CallRecording::Begin(JNIEnv* jni, std::span<const ExistingThread> threads) {
  focus_.Begin(jni);
  threads_.Begin(jni, threads);
  labels_.Begin(jni, Commands());
  if (!objects_) return source_->Begin(jni);
  objects_->Begin(jni);
  auto begun = objects_->BeginLate(jni);
  if (begun) begun = source_->Begin(jni);
  if (begun) begun = objects_->CountLate();
  if (!begun) (void)objects_->EndLate(jni);
  return begun;
}

void CallRecording::BeginSampling(JNIEnv* jni) {
  if (sampling_) sampling_->Begin(jni);
}

void CallRecording::End(JNIEnv* jni) {
  threads_.End(jni);
  control_.End();
  if (sampling_) sampling_->Stop();
  source_->Complete();
  if (objects_) objects_->End(jni);
  session_.End();
}

// Only recordings without samples can fail (setup::CheckAttach).
Result<void> CallRecording::RestoreCode(JNIEnv* jni) {
  if (sampling_) sampling_->End();
  if (objects_) {
    if (auto ended = objects_->EndLate(jni); !ended) return ended;
  }
  auto ended = source_->End(jni);
  if (ended) labels_.End(jni);
  return ended;
}

void CallRecording::DisableEvents() {
  if (sampling_) sampling_->EndEvents();
  method_reuse_.End(setting_.jvmti);
}

// The signal handlers are restored when the threads have no timers any more.
void CallRecording::Close() {
  control_.End();
  if (sampling_) sampling_->End();
  session_.Close();
  if (sampling_) sampling_->Close();
}

}  // namespace jprof::agent
