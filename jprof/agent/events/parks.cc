#include "jprof/agent/events/parks.h"

#include <atomic>

#include "common/monotonic.h"
#include "jprof/agent/events/event_trace.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/agent/vm/native_threads.h"

namespace jprof::agent {
namespace {

using Park = void(JNICALL*)(JNIEnv*, jobject unsafe, jboolean absolute, jlong time);

constexpr char kUnsafe[] = "jdk/internal/misc/Unsafe";
constexpr char kSignature[] = "(ZJ)V";

std::atomic<Park> original_park = nullptr;
std::atomic<uint32_t> park_changer = 0;  // the thread that replaces or restores the method, or 0
bool replaces_park = false;              // which of both
jmethodID park_method = nullptr;

uint64_t Begins(JNIEnv* jni) {
  const InUse<EventTrace> trace;
  return trace ? trace->BeginPark(jni) : 0;
}

// The trace may have ended meanwhile, and another one may have begun.
void JNICALL ReportedPark(JNIEnv* jni, jobject unsafe, jboolean absolute, jlong time) {
  const Park park = original_park.load(std::memory_order_acquire);
  if (park == nullptr) return;  // it is being replaced: a thread may return from park at any time
  const uint64_t number = Begins(jni);
  const int64_t begin = MonotonicNanos();
  park(jni, unsafe, absolute, time);
  if (number == 0) return;
  if (const InUse<EventTrace> trace; trace) trace->EndPark(number, begin);
}

// Makes the class bind its native methods as when it was initialised.
void BindOriginals(JNIEnv* jni, jclass unsafe) {
  const jmethodID bind = jni->GetStaticMethodID(unsafe, "registerNatives", "()V");
  if (bind != nullptr) jni->CallStaticVoidMethod(unsafe, bind);
  jni->ExceptionClear();
}

// The VM tells nobody which function a native method has. But it reports functions that are bound,
// and binding this one again makes a difference only if the method has another one by then.
void Replace(jvmtiEnv* jvmti, JNIEnv* jni, jclass unsafe) {
  const JNINativeMethod ours = {const_cast<char*>("park"), const_cast<char*>(kSignature),
                                reinterpret_cast<void*>(ReportedPark)};
  if (jni->RegisterNatives(unsafe, &ours, 1) != JNI_OK) return jni->ExceptionClear();
  EnableEvent(jvmti, JVMTI_EVENT_NATIVE_METHOD_BIND);
  BindOriginals(jni, unsafe);
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_NATIVE_METHOD_BIND, nullptr);
}

void JNICALL OnBind(jvmtiEnv*, JNIEnv*, jthread, jmethodID method, void* address,
                    void** replacement) {
  if (method != park_method || park_changer.load() != CurrentTid()) return;
  original_park.store(reinterpret_cast<Park>(address), std::memory_order_release);
  *replacement = reinterpret_cast<void*>(ReportedPark);
}

// The VM warns on the console of a platform class's native methods that are bound by code which no
// such class has called. So they are bound while Object.wait(long, int) has called another method,
// when the VM reports the wait.
void Change(JNIEnv* jni) {
  const jclass type = jni->FindClass("java/lang/Object");
  const jmethodID wait = type != nullptr ? jni->GetMethodID(type, "wait", "(JI)V") : nullptr;
  const jobject monitor = wait != nullptr ? jni->AllocObject(type) : nullptr;
  if (monitor != nullptr && jni->MonitorEnter(monitor) == JNI_OK) {
    park_changer = CurrentTid();
    jni->CallVoidMethod(monitor, wait, jlong{1}, jint{0});
    park_changer = 0;
    jni->ExceptionClear();
    jni->MonitorExit(monitor);
  }
  jni->ExceptionClear();
  jni->DeleteLocalRef(monitor);
  jni->DeleteLocalRef(type);
}

}  // namespace

void Parks::Open(jvmtiEnv* jvmti, JvmtiEvents& events) {
  jvmtiCapabilities wanted = {};
  wanted.can_generate_native_method_bind_events = 1;
  if (jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE)
    events.AddDisabled(&jvmtiEventCallbacks::NativeMethodBind, kGuarded<OnBind>);
}

Result<void> Parks::Begin(JNIEnv* jni) {
  const jclass unsafe = jni->FindClass(kUnsafe);
  park_method = unsafe != nullptr ? jni->GetMethodID(unsafe, "park", kSignature) : nullptr;
  jni->ExceptionClear();
  jni->DeleteLocalRef(unsafe);
  if (park_method != nullptr) {
    replaces_park = true;
    Change(jni);
  }
  if (original_park.load() != nullptr) return {};
  return Fail("this JVM does not tell which function parks a thread");
}

void Parks::End(JNIEnv* jni) {
  if (original_park.load() == nullptr) return;
  replaces_park = false;
  Change(jni);
}

bool Parks::IsOwnWait() {
  const uint32_t one = park_changer.load(std::memory_order_relaxed);
  return one != 0 && one == CurrentTid();
}

bool Parks::OnWait(jvmtiEnv* jvmti, JNIEnv* jni) {
  if (!IsOwnWait()) return false;
  const jclass unsafe = jni->FindClass(kUnsafe);
  if (replaces_park) {
    Replace(jvmti, jni, unsafe);
  } else {
    BindOriginals(jni, unsafe);
  }
  jni->DeleteLocalRef(unsafe);
  return true;
}

}  // namespace jprof::agent
