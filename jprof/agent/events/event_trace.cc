#include "jprof/agent/events/event_trace.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <jvm_events.hpp>
#include <threads_events.hpp>
#include <utility>

#include "common/errno_text.h"
#include "common/monotonic.h"
#include "events/runtime/forget.h"
#include "jprof/agent/events/parks.h"
#include "jprof/agent/vm/existing_threads.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/agent/vm/native_threads.h"
#include "jprof/engine/woven.h"
#include "jprof/setup/print_message.h"
#include "profile/files/layout.h"

namespace jprof::agent {
namespace {

// The time at which a thread began to wait is in the thread's storage of the environment, because a
// virtual thread may end a wait on another native thread.
void BeginTiming(jvmtiEnv* jvmti, jthread thread) {
  jvmti->SetThreadLocalStorage(thread, reinterpret_cast<void*>(MonotonicNanos()));
}

// Returns how long it has waited, or 0 if that is not known.
uint64_t EndTiming(jvmtiEnv* jvmti, jthread thread) {
  void* begin = nullptr;
  if (jvmti->GetThreadLocalStorage(thread, &begin) != JVMTI_ERROR_NONE || begin == nullptr)
    return 0;
  jvmti->SetThreadLocalStorage(thread, nullptr);
  return static_cast<uint64_t>(MonotonicNanos() - reinterpret_cast<int64_t>(begin));
}

// Returns the index of the node of the calling thread's current method, or 0 if it is not known.
uint64_t CallingContext() {
  const engine::Thread* const thread = engine::current_thread;
  const profile::Node* const node = thread != nullptr ? engine::CurrentNode(*thread) : nullptr;
  return node != nullptr ? static_cast<uint64_t>(node - thread->nodes) : 0;
}

std::string JavaName(std::string_view signature) {
  std::string name(InternalName(signature));
  std::ranges::replace(name, '/', '.');
  return name;
}

std::string ClassName(jvmtiEnv* jvmti, jclass type) {
  JvmtiString signature(jvmti);
  if (jvmti->GetClassSignature(type, signature.out(), nullptr) != JVMTI_ERROR_NONE) return "";
  return JavaName(signature.view());
}

uint32_t Process() { return static_cast<uint32_t>(getpid()); }

uint64_t ThreadCpuNanos() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

Result<void> EventTrace::Open(JavaVM* java, const std::string& directory) {
  jvmti_ = NewJvmtiEnv(java);
  if (jvmti_ == nullptr) return Fail("no events: this JVM has no JVMTI 11");
  auto opened = AddCapabilities();
  if (opened) opened = OpenTrace(directory);
  if (!opened) {
    Close();
    return opened;
  }
  static uint64_t recordings = 0;
  recording_ = ++recordings;
  AddEvents();
  Publish(*this);
  return {};
}

Result<void> EventTrace::AddCapabilities() const {
  jvmtiCapabilities wanted = {};
  wanted.can_generate_garbage_collection_events = 1;
  wanted.can_generate_compiled_method_load_events = 1;
  wanted.can_generate_monitor_events = 1;
  if (jvmti_->AddCapabilities(&wanted) == JVMTI_ERROR_NONE) return {};
  return Fail("no events: this JVM does not report them");
}

// Another writer of events may have made the first folder.
Result<void> EventTrace::OpenTrace(const std::string& directory) {
  const std::string folder = directory + "/" + profile::kEventsFolder;
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return Fail("no events: {}: {}", folder, ErrnoText());
  constexpr jprof_events_options kOptions = {
      .mode = JPROF_EVENTS_CONTINUOUS, .packet_bytes = 64 << 10, .packets = 0, .no_control = 1};
  if (jprof_events_open((folder + "/" + profile::kJvmFolder).c_str(), &kOptions) != 0)
    return Fail("no events: {}", jprof_events_error());
  return {};
}

void EventTrace::AddEvents() {
  using Slots = jvmtiEventCallbacks;
  const auto add = [&](jvmtiEvent event, auto slot, auto callback) {
    events_.Add(event, slot, callback);
  };
  add(JVMTI_EVENT_GARBAGE_COLLECTION_START, &Slots::GarbageCollectionStart,
      kGuarded<OnCollectionStart>);
  add(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, &Slots::GarbageCollectionFinish,
      kGuarded<OnCollectionFinish>);
  add(JVMTI_EVENT_COMPILED_METHOD_LOAD, &Slots::CompiledMethodLoad, kGuarded<OnMethodLoad>);
  add(JVMTI_EVENT_COMPILED_METHOD_UNLOAD, &Slots::CompiledMethodUnload, kGuarded<OnMethodUnload>);
  add(JVMTI_EVENT_MONITOR_CONTENDED_ENTER, &Slots::MonitorContendedEnter, kGuarded<OnContended>);
  add(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, &Slots::MonitorContendedEntered, kGuarded<OnEntered>);
  add(JVMTI_EVENT_MONITOR_WAIT, &Slots::MonitorWait, kGuarded<OnWait>);
  add(JVMTI_EVENT_MONITOR_WAITED, &Slots::MonitorWaited, kGuarded<OnWaited>);
  add(JVMTI_EVENT_THREAD_START, &Slots::ThreadStart, kGuarded<OnThreadStart>);
  add(JVMTI_EVENT_THREAD_END, &Slots::ThreadEnd, kGuarded<OnThreadEnd>);
  add(JVMTI_EVENT_CLASS_LOAD, &Slots::ClassLoad, kGuarded<OnClassLoad>);
  Parks::Open(jvmti_, events_);
}

void EventTrace::Begin(JNIEnv* jni) {
  if (jvmti_ == nullptr) return;
  structs_ = hotspot::VmStructs::Load();
  threads_.emplace(structs_);
  if (structs_) {
    heap_ = hotspot::HeapCounters::Find(*structs_);
    if (auto vm = hotspot::Vm::Open(*structs_)) vm_ = *vm;
  }
  FindFields(jni);
  jprof_events_set_level("jvm::*", JPROF_EVENTS_LOG);
  jprof_events_set_level("process::threads::*", JPROF_EVENTS_LOG);
  events_.Install(jvmti_);
  AddExistingThreads(jni);
  const auto parks = Parks::Begin(jni);
  if (!parks) setup::PrintMessage(parks.error().message + "; no events of it are written");
}

void EventTrace::FindFields(JNIEnv* jni) {
  const jclass thread = jni->FindClass("java/lang/Thread");
  const auto find = [&](const char* name, const char* type) {
    const jfieldID field = thread != nullptr ? jni->GetFieldID(thread, name, type) : nullptr;
    jni->ExceptionClear();
    return field;
  };
  fields_ = {.vm_thread = find("eetop", "J"),
             .number = find("tid", "J"),
             .blocker = find("parkBlocker", "Ljava/lang/Object;")};
  jni->DeleteLocalRef(thread);
}

void EventTrace::AddExistingThreads(JNIEnv* jni) {
  const auto existing = ExistingThreads(jni, jvmti_);
  if (!existing) return;
  for (const ExistingThread& thread : *existing) {
    if (threads_->Add({thread.vm_thread, thread.native.tid, thread.native.stack}))
      WriteThreadBegin(jni, thread.java, thread.native.tid, thread.name.c_str());
    jni->DeleteLocalRef(thread.java);
  }
}

void EventTrace::End() {
  if (jvmti_ != nullptr) jprof_events_close();
}

void EventTrace::RestoreCode(JNIEnv* jni) {
  if (jvmti_ != nullptr) Parks::End(jni);
}

void EventTrace::DisableEvents() {
  if (jvmti_ != nullptr) events_.Uninstall(jvmti_);
}

void EventTrace::Close() {
  if (jvmti_ == nullptr) return;
  std::exchange(jvmti_, nullptr)->DisposeEnvironment();
  jprof_events_forget();
}

uint64_t EventTrace::NumberOf(JNIEnv* jni, jthread thread) const {
  if (fields_.number == nullptr) return 0;
  return static_cast<uint64_t>(jni->GetLongField(thread, fields_.number));
}

std::string EventTrace::ClassOf(JNIEnv* jni, jobject object) const {
  const jclass type = jni->GetObjectClass(object);
  std::string name = ClassName(jvmti_, type);
  jni->DeleteLocalRef(type);
  return name;
}

uint32_t EventTrace::HashOf(jobject object) const {
  jint hash = 0;
  jvmti_->GetObjectHashCode(object, &hash);
  return static_cast<uint32_t>(hash);
}

void EventTrace::WriteThreadBegin(JNIEnv* jni, jthread thread, uint32_t tid,
                                  const char* name) const {
  ::process::threads::thread_begin(Process(), tid, NumberOf(jni, thread), name);
}

uint64_t EventTrace::BeginPark(JNIEnv* jni) const {
  if (!::jvm::monitors::park_begin_is_on()) return 0;
  jthread thread = nullptr;
  jobject blocker = nullptr;
  if (fields_.blocker != nullptr && jvmti_->GetCurrentThread(&thread) == JVMTI_ERROR_NONE)
    blocker = jni->GetObjectField(thread, fields_.blocker);
  const uint32_t hash = blocker != nullptr ? HashOf(blocker) : 0;
  const std::string type = blocker != nullptr ? ClassOf(jni, blocker) : std::string();
  ::jvm::monitors::park_begin(CallingContext(), hash, type.c_str());
  jni->DeleteLocalRef(blocker);
  jni->DeleteLocalRef(thread);
  return recording_;
}

void EventTrace::EndPark(uint64_t number, int64_t begin_ns) const {
  if (number != recording_) return;
  ::jvm::monitors::park_end(CallingContext(), static_cast<uint64_t>(MonotonicNanos() - begin_ns));
}

// The VM's thread, while all others are stopped: only memory may be read here.
void EventTrace::OnCollectionStart(jvmtiEnv*) {
  const InUse<EventTrace> trace;
  if (!trace) return;
  trace->collection_begin_ns_ = MonotonicNanos();
  ::jvm::collector::collection_begin(trace->collections_);
}

void EventTrace::OnCollectionFinish(jvmtiEnv*) {
  const InUse<EventTrace> trace;
  if (!trace || trace->collection_begin_ns_ == 0) return;
  const int64_t passed = MonotonicNanos() - std::exchange(trace->collection_begin_ns_, 0);
  ::jvm::collector::collection_end(trace->collections_++, static_cast<uint64_t>(passed),
                                   trace->heap_.Used(), trace->heap_.Cause().c_str());
}

void EventTrace::OnMethodLoad(jvmtiEnv* jvmti, jmethodID method, jint length, const void* address,
                              jint, const jvmtiAddrLocationMap*, const void*) {
  const InUse<EventTrace> trace;
  if (!trace) return;
  const MethodNames names(jvmti, method);
  std::string text = JavaName(names.class_name());
  text.append(1, '.').append(names.name()).append(names.signature());
  const auto code = reinterpret_cast<uint64_t>(address);
  ::jvm::compiler::compiled(text.c_str(), code, static_cast<uint32_t>(length),
                            trace->vm_ ? trace->vm_->LevelOf(code) : uint8_t{0});
}

void EventTrace::OnMethodUnload(jvmtiEnv*, jmethodID, const void* address) {
  const InUse<EventTrace> trace;
  if (trace) ::jvm::compiler::unloaded(reinterpret_cast<uint64_t>(address));
}

void EventTrace::OnContended(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object) {
  const InUse<EventTrace> trace;
  if (!trace) return;
  const uint32_t owner = trace->threads_->OwnerOf(object);  // first, as it may change at any time
  const uint32_t monitor = trace->HashOf(object);
  BeginTiming(jvmti, thread);
  ::jvm::monitors::contended(CallingContext(), monitor, owner, trace->ClassOf(jni, object).c_str());
}

void EventTrace::OnEntered(jvmtiEnv* jvmti, JNIEnv*, jthread thread, jobject object) {
  const InUse<EventTrace> trace;
  if (!trace) return;
  const uint32_t monitor = trace->HashOf(object);
  ::jvm::monitors::entered(CallingContext(), monitor, EndTiming(jvmti, thread));
}

void EventTrace::OnWait(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object,
                        jlong timeout) {
  const InUse<EventTrace> trace;
  if (!trace || Parks::OnWait(jvmti, jni)) return;
  const uint32_t monitor = trace->HashOf(object);
  BeginTiming(jvmti, thread);
  ::jvm::monitors::wait_begin(CallingContext(), monitor, static_cast<uint64_t>(timeout));
}

void EventTrace::OnWaited(jvmtiEnv* jvmti, JNIEnv*, jthread thread, jobject object, jboolean) {
  const InUse<EventTrace> trace;
  if (!trace || Parks::IsOwnWait()) return;
  const uint32_t monitor = trace->HashOf(object);
  ::jvm::monitors::wait_end(CallingContext(), monitor, EndTiming(jvmti, thread));
}

void EventTrace::OnThreadStart(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  const InUse<EventTrace> trace;
  if (!trace || trace->fields_.vm_thread == nullptr) return;
  const jlong vm_thread = jni->GetLongField(thread, trace->fields_.vm_thread);
  if (trace->threads_->AddCurrent(static_cast<uint64_t>(vm_thread)))
    trace->WriteThreadBegin(jni, thread, CurrentTid(), ThreadName(jvmti, thread).c_str());
}

void EventTrace::OnThreadEnd(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  const InUse<EventTrace> trace;
  if (!trace || !trace->threads_->RemoveCurrent()) return;
  ::process::threads::thread_end(Process(), CurrentTid(), trace->NumberOf(jni, thread),
                                 ThreadCpuNanos());
}

void EventTrace::OnClassLoad(jvmtiEnv* jvmti, JNIEnv*, jthread, jclass loaded) {
  const InUse<EventTrace> trace;
  // A class that is linked was loaded before: it is reported again when another loader finds it.
  if (trace && !IsLinked(jvmti, loaded))
    ::jvm::classes::loaded(CallingContext(), ClassName(jvmti, loaded).c_str());
}

}  // namespace jprof::agent
