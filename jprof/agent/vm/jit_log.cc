#include "jprof/agent/vm/jit_log.h"

#include <algorithm>
#include <utility>

#include "common/frame_kind.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/agent/vm/jit_lines.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/agent/vm/native_threads.h"

namespace jprof::agent {

using profile::JitCode;

Result<void> JitLog::Open(JavaVM* java, int directory_fd, bool with_code) {
  jvmtiEnv* jvmti = NewJvmtiEnv(java);
  if (jvmti == nullptr) return Fail("no log of jitted code: this JVM has no JVMTI 11");
  jvmtiCapabilities wanted = {};
  wanted.can_generate_compiled_method_load_events = 1;
  wanted.can_get_line_numbers = 1;
  wanted.can_get_source_file_name = 1;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    jvmti->DisposeEnvironment();
    return Fail("no log of jitted code: this JVM does not report compiled code");
  }
  if (auto opened = writer_.Open(directory_fd); !opened) {
    jvmti->DisposeEnvironment();
    return Fail("no log of jitted code: {}", opened.error().message);
  }
  jvmti_ = jvmti;
  threads_ = JavaThreads(jvmti);
  with_code_ = with_code;
  if (const auto structs = hotspot::VmStructs::Load()) {
    if (auto vm = hotspot::Vm::Open(*structs)) vm_ = *vm;
  }
  Publish(*this);
  SetEvents(jvmti);
  return {};
}

void JitLog::SetEvents(jvmtiEnv* jvmti) {
  using Slots = jvmtiEventCallbacks;
  JvmtiEvents& events = events_;
  events.Add(JVMTI_EVENT_THREAD_START, &Slots::ThreadStart, kGuarded<OnThreadStart>);
  events.Add(JVMTI_EVENT_THREAD_END, &Slots::ThreadEnd, kGuarded<OnThreadEnd>);
  events.Add(JVMTI_EVENT_COMPILED_METHOD_LOAD, &Slots::CompiledMethodLoad, kGuarded<OnMethodLoad>);
  events.Add(JVMTI_EVENT_COMPILED_METHOD_UNLOAD, &Slots::CompiledMethodUnload,
             kGuarded<OnMethodUnload>);
  events.Add(JVMTI_EVENT_DYNAMIC_CODE_GENERATED, &Slots::DynamicCodeGenerated, kGuarded<OnStub>);
  events.Install(jvmti);
}

void JitLog::Begin(JNIEnv* jni, std::span<const ExistingThread> threads) {
  if (jvmti_ == nullptr) return;
  for (const ExistingThread& thread : threads) {
    threads_.Keep(thread.java, thread.native.tid);
    RecordThread(thread.native.tid, profile::kJitNamed, thread.name);
  }
  NameEarlyThreads(jni);
  ReportEarlierCode(jvmti_);
}

void JitLog::End(JNIEnv* jni) {
  if (jvmti_ == nullptr) return;
  threads_.ForEachKept(jni, [&](uintptr_t tid, const std::string& name) {
    RecordThread(static_cast<uint32_t>(tid), profile::kJitNamed, name);
  });
  writer_.End();
}

void JitLog::DisableEvents() {
  if (jvmti_ != nullptr) events_.Uninstall(jvmti_);
}

void JitLog::Close() {
  if (jvmti_ != nullptr) std::exchange(jvmti_, nullptr)->DisposeEnvironment();
}

bool JitLog::IsEarlierCode() const {
  const uint32_t reporter = reporter_.load(std::memory_order_relaxed);
  return reporter != 0 && reporter == CurrentTid();
}

std::vector<uint8_t> JitLog::Instructions(const JitCode& code) const {
  if (!with_code_) return {};
  const auto* begin = reinterpret_cast<const uint8_t*>(code.address);
  return {begin, begin + code.length};
}

char JitLog::TypeOf(uint64_t address) {
  const FrameKind type = vm_ ? vm_->Classify(address) : FrameKind::kJitted;
  return type == FrameKind::kRejitted || type == FrameKind::kNative ? Letter(type) : 'J';
}

void JitLog::OnMethodLoad(jvmtiEnv* jvmti, jmethodID method, jint length, const void* address,
                          jint map_length, const jvmtiAddrLocationMap* map,
                          const void* compile_info) {
  if (length <= 0) return;
  const InUse<JitLog> log;
  if (!log) return;
  JitCode code = {.address = reinterpret_cast<uint64_t>(address),
                  .length = static_cast<uint32_t>(length)};
  const MethodNames names(jvmti, method);
  JvmtiString source(jvmti);
  if (names.known()) {
    jvmti->GetSourceFileName(names.declaring(), source.out());
    code.class_name = names.class_name();
    code.name = names.name();
    code.signature = names.signature();
    code.source = source.view();
  } else {
    code.class_name = "(unknown)";
    code.name = "method";
  }
  code.type = log->TypeOf(code.address);
  code.level = code.type == Letter(FrameKind::kRejitted) ? 4 : 0;
  const size_t places = map != nullptr ? static_cast<size_t>(std::max(map_length, 0)) : 0;
  const auto lines = LinesOf(jvmti, method, code, {map, places}, compile_info);
  code.lines = lines;
  const auto instructions = log->Instructions(code);
  code.code = instructions;
  log->writer_.Load(code, log->IsEarlierCode());
}

void JitLog::OnMethodUnload(jvmtiEnv*, jmethodID, const void* address) {
  const InUse<JitLog> log;
  if (log) log->writer_.Unload(reinterpret_cast<uint64_t>(address));
}

void JitLog::OnStub(jvmtiEnv*, const char* name, const void* address, jint length) {
  if (length <= 0) return;
  const InUse<JitLog> log;
  if (!log) return;
  JitCode code = {.address = reinterpret_cast<uint64_t>(address),
                  .length = static_cast<uint32_t>(length),
                  .stub = true};
  code.name = name != nullptr ? name : "";
  code.type = Letter(code.name == "Interpreter" ? FrameKind::kInterpreted : FrameKind::kOther);
  const auto instructions = log->Instructions(code);
  code.code = instructions;
  log->writer_.Load(code, log->IsEarlierCode());
}

void JitLog::ReportEarlierCode(jvmtiEnv* jvmti) {
  reporter_ = CurrentTid();
  jvmti->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
  jvmti->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
  reporter_ = 0;
}

void JitLog::RecordThread(uint32_t tid, profile::JitThreadEvent event, const std::string& name) {
  std::lock_guard guard(names_lock_);
  const auto [entry, is_new] = names_.try_emplace(tid, name);
  if (!is_new && entry->second == name)
    return;  // the main thread, for example, is named before its start event
  entry->second = name;
  writer_.Thread(tid, event, name);
}

bool JitLog::IsNamed(uint32_t tid) {
  std::lock_guard guard(names_lock_);
  return names_.contains(tid);
}

void JitLog::RecordThreadEnd(uint32_t tid) {
  std::lock_guard guard(names_lock_);
  names_.erase(tid);
  writer_.Thread(tid, profile::kJitThreadEnded, "");
}

void JitLog::OnThreadStart(jvmtiEnv*, JNIEnv*, jthread thread) {
  const InUse<JitLog> log;
  if (!log) return;
  log->threads_.Keep(thread, CurrentTid());
  log->RecordThread(CurrentTid(), profile::kJitBegan, log->threads_.NameOf(thread));
}

void JitLog::OnThreadEnd(jvmtiEnv*, JNIEnv*, jthread thread) {
  const InUse<JitLog> log;
  if (!log) return;
  log->RecordThread(CurrentTid(), profile::kJitNamed, log->threads_.NameOf(thread));
  log->threads_.Forget(thread);
  log->RecordThreadEnd(CurrentTid());
}

// Names threads that began before JVMTI reported threads, and compiler and collector threads, which
// it never reports. They are identified by their kernel names.
void JitLog::NameEarlyThreads(JNIEnv* jni) {
  std::vector<UnnamedThread> early;
  for (const uint32_t tid : NativeThreads()) {
    if (!IsNamed(tid)) early.push_back({KernelName(tid), tid});
  }
  const auto record = [&](uintptr_t tid, const std::string& name) {
    RecordThread(static_cast<uint32_t>(tid), profile::kJitNamed, name);
  };
  threads_.MatchEarly(jni, early, record);
  for (const UnnamedThread& thread : early) record(thread.value, thread.kernel_name);
}

}  // namespace jprof::agent
