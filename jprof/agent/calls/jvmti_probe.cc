#include "jprof/agent/calls/jvmti_probe.h"

#include <cstdarg>
#include <cstring>
#include <functional>
#include <span>

#include "jprof/agent/vm/in_use.h"
#include "jprof/engine/events.h"
#include "jprof/setup/print_message.h"

namespace jprof::agent {
namespace {

// Identifies the virtual thread that is mounted on this native thread, or is 0 if none is. It is
// thread_local because a virtual thread may be mounted before the engine has a record of the native
// thread, and every event reads it.
thread_local uint64_t mounted = 0;

template <class R>
void JNICALL OnMethodEntry(jvmtiEnv*, JNIEnv*, jthread, jmethodID method) {
  engine::Enter<R, engine::JavaFramesBesideHooks>(
      {reinterpret_cast<uint64_t>(method), engine::kNoStack, 0, mounted, 0});
}

template <class R>
void JNICALL OnMethodExit(jvmtiEnv*, JNIEnv*, jthread, jmethodID method, jboolean, jvalue) {
  engine::Leave<R, engine::JavaFramesBesideHooks>(
      {reinterpret_cast<uint64_t>(method), engine::kNoStack, 0, mounted, 0});
}

// Handles an extension event of JDK 21 and later, whose arguments are (env, JNIEnv*, jthread, ...).
// A virtual thread gets its number when it is first mounted; it is kept in the thread's JVMTI
// storage.
void JNICALL OnMount(jvmtiEnv* jvmti, ...) {
  va_list arguments;
  va_start(arguments, jvmti);
  (void)va_arg(arguments, JNIEnv*);
  const jthread thread = va_arg(arguments, jthread);
  va_end(arguments);
  void* identity = nullptr;
  jvmti->GetThreadLocalStorage(thread, &identity);
  if (identity == nullptr) {
    const InUse<JvmtiProbe> probe;
    if (!probe) return;
    identity = reinterpret_cast<void*>(probe->NewVirtualThreadId());
    jvmti->SetThreadLocalStorage(thread, identity);
  }
  mounted = reinterpret_cast<uint64_t>(identity);
}
void JNICALL OnUnmount(jvmtiEnv*, ...) { mounted = 0; }

void AddMountEvents(jvmtiEnv* jvmti) {
  jint count = 0;
  jvmtiExtensionEventInfo* events = nullptr;
  if (jvmti->GetExtensionEvents(&count, &events) != JVMTI_ERROR_NONE) return;
  for (const jvmtiExtensionEventInfo& event : std::span(events, static_cast<size_t>(count))) {
    const bool mount = std::strstr(event.id, "VirtualThreadMount") != nullptr;
    const bool unmount = std::strstr(event.id, "VirtualThreadUnmount") != nullptr;
    if (!mount && !unmount) continue;
    jvmti->SetExtensionEventCallback(event.extension_event_index, mount ? OnMount : OnUnmount);
  }
}

}  // namespace

JvmtiProbe::JvmtiProbe(const CallContext& context, const std::string& reason)
    : CallSource(context) {
  metadata_ = {ProbeKind::kJvmti, reason, ""};
  setup::PrintMessage("recording with JVMTI events, which is slow: " + reason);
}

Result<void> JvmtiProbe::AddTo(JvmtiEvents& events) {
  jvmtiEnv* const jvmti = context_.jvmti;
  jvmtiCapabilities wanted = {};
  wanted.can_generate_method_entry_events = 1;
  wanted.can_generate_method_exit_events = 1;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return Fail("this JVM offers neither HotSpot's method probes nor JVMTI method events");
  }
  Publish(*this);
  AddVirtualThreadSupport(jvmti);  // fails before JDK 21, where it is not needed
  engine::Visit(context_.plan.kind, context_.options.train, [&]<class R>() {
    events.AddDisabled(&jvmtiEventCallbacks::MethodEntry, OnMethodEntry<R>);
    events.AddDisabled(&jvmtiEventCallbacks::MethodExit, OnMethodExit<R>);
  });
  AddMountEvents(jvmti);
  return {};
}

Result<void> JvmtiProbe::Begin(JNIEnv*) {
  if (EnableEvent(context_.jvmti, JVMTI_EVENT_METHOD_ENTRY) &&
      EnableEvent(context_.jvmti, JVMTI_EVENT_METHOD_EXIT))
    return {};
  return Fail("this JVM does not report method events");
}

uint64_t JvmtiProbe::VirtualThreadId(uint64_t) { return mounted; }

bool JvmtiProbe::Describe(uint64_t handle, engine::MethodText* text) {
  const auto method = reinterpret_cast<jmethodID>(handle);
  jvmtiEnv* const jvmti = context_.jvmti;
  const MethodNames names(jvmti, method);
  jint modifiers = 0;
  if (!names.known() || jvmti->GetMethodModifiers(method, &modifiers) != JVMTI_ERROR_NONE)
    return false;
  constexpr jint kStatic = 0x0008, kNative = 0x0100;
  text->class_name = Keep(names.class_name());
  text->name = Keep(names.name());
  text->signature = Keep(names.signature());
  text->is_static = (modifiers & kStatic) != 0;
  text->is_native = (modifiers & kNative) != 0;
  return true;
}

std::string_view JvmtiProbe::Keep(std::string_view name) {
  std::lock_guard guard(names_lock_);
  const auto kept = names_.find(name);
  return kept != names_.end() ? *kept : *names_.emplace(name).first;
}

}  // namespace jprof::agent
