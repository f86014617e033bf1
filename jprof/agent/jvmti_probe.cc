#include "jprof/agent/jvmti_probe.h"

#include <cstring>
#include <string>

#include "jprof/agent/jvmti_threads.h"
#include "jprof/engine/events.h"

namespace jprof::agent {
namespace {

// The virtual thread that is mounted on this native thread; 0 = none. Identities are ours, handed
// out at the first mount and kept in the virtual thread's JVMTI storage.
thread_local uint64_t mounted = 0;
uint64_t last_identity = 0;

template <class R>
void JNICALL OnMethodEntry(jvmtiEnv*, JNIEnv*, jthread, jmethodID method) {
  engine::Enter<R>({reinterpret_cast<uint64_t>(method), engine::kNoStack, 0, mounted, 0});
}

template <class R>
void JNICALL OnMethodExit(jvmtiEnv*, JNIEnv*, jthread, jmethodID method, jboolean, jvalue) {
  engine::Leave<R>({reinterpret_cast<uint64_t>(method), engine::kNoStack, 0, mounted, 0});
}

// Extension events (21 and later); the arguments are (env, JNIEnv*, jthread, ...).
void JNICALL OnMount(jvmtiEnv* jvmti, ...) {
  va_list arguments;
  va_start(arguments, jvmti);
  (void)va_arg(arguments, JNIEnv*);
  const jthread thread = va_arg(arguments, jthread);
  va_end(arguments);
  void* identity = nullptr;
  jvmti->GetThreadLocalStorage(thread, &identity);
  if (identity == nullptr) {
    identity = reinterpret_cast<void*>(__atomic_add_fetch(&last_identity, 1, __ATOMIC_RELAXED));
    jvmti->SetThreadLocalStorage(thread, identity);
  }
  mounted = reinterpret_cast<uint64_t>(identity);
}
void JNICALL OnUnmount(jvmtiEnv*, ...) { mounted = 0; }

void ListenForVirtualThreads(jvmtiEnv* jvmti) {
  jint count = 0;
  jvmtiExtensionEventInfo* events = nullptr;
  if (jvmti->GetExtensionEvents(&count, &events) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    const bool mount = std::strstr(events[i].id, "VirtualThreadMount") != nullptr;
    const bool unmount = std::strstr(events[i].id, "VirtualThreadUnmount") != nullptr;
    if (mount || unmount) {
      jvmti->SetExtensionEventCallback(events[i].extension_event_index,
                                       mount ? OnMount : OnUnmount);
    }
  }
}

// can_support_virtual_threads, which the headers of JDK 17 do not name.
void AskForVirtualThreads(jvmtiEnv* jvmti) {
  constexpr int kBit = 44;
  jvmtiCapabilities capabilities = {};
  static_assert(sizeof capabilities > kBit / 8);
  reinterpret_cast<unsigned char*>(&capabilities)[kBit / 8] |= 1 << (kBit % 8);
  jvmti->AddCapabilities(&capabilities);  // before 21: refused, and not needed
}

template <class R>
void Fill(jvmtiEventCallbacks* callbacks) {
  callbacks->MethodEntry = OnMethodEntry<R>;
  callbacks->MethodExit = OnMethodExit<R>;
}

}  // namespace

bool JvmtiSource::Describe(uint64_t handle, engine::MethodText* text) {
  // Kept until this thread describes its next method, which is as long as anybody looks at it.
  thread_local std::string class_name, method_name, method_signature;
  const auto method = reinterpret_cast<jmethodID>(handle);
  jclass declaring = nullptr;
  char *name = nullptr, *signature = nullptr, *class_signature = nullptr;
  jint modifiers = 0;
  if (jvmti_->GetMethodDeclaringClass(method, &declaring) != JVMTI_ERROR_NONE ||
      jvmti_->GetMethodName(method, &name, &signature, nullptr) != JVMTI_ERROR_NONE ||
      jvmti_->GetClassSignature(declaring, &class_signature, nullptr) != JVMTI_ERROR_NONE ||
      jvmti_->GetMethodModifiers(method, &modifiers) != JVMTI_ERROR_NONE) {
    return false;
  }
  class_name = InternalName(class_signature);
  method_name = name;
  method_signature = signature;
  for (char* text_of_vm : {name, signature, class_signature}) {
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(text_of_vm));
  }
  constexpr jint kStatic = 0x0008, kNative = 0x0100;
  *text = {class_name, method_name, method_signature, (modifiers & kStatic) != 0,
           (modifiers & kNative) != 0};
  return true;
}

uint64_t JvmtiSource::VirtualThreadId(uint64_t) { return mounted; }

Result<void> PrepareJvmtiProbe(jvmtiEnv* jvmti, engine::RecordingKind kind, bool train,
                               jvmtiEventCallbacks* callbacks) {
  jvmtiCapabilities wanted = {};
  wanted.can_generate_method_entry_events = 1;
  wanted.can_generate_method_exit_events = 1;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return Fail("this JVM offers neither HotSpot's method probes nor JVMTI method events");
  }
  AskForVirtualThreads(jvmti);
  engine::Visit(kind, train, [&]<class R>() { Fill<R>(callbacks); });
  ListenForVirtualThreads(jvmti);
  return {};
}

bool StartJvmtiProbe(jvmtiEnv* jvmti) {
  return jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, nullptr) ==
             JVMTI_ERROR_NONE &&
         jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_METHOD_EXIT, nullptr) ==
             JVMTI_ERROR_NONE;
}

}  // namespace jprof::agent
