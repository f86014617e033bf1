#include "jprof/agent/calls/woven_virtual_threads.h"

#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/weave/weave.h"

namespace jprof::agent {

bool HasCarrierThreads(JNIEnv* jni) {
  const jclass thread = jni->FindClass("java/lang/Thread");
  const bool has = thread != nullptr && jni->GetStaticMethodID(thread, "currentCarrierThread",
                                                               "()Ljava/lang/Thread;") != nullptr;
  jni->ExceptionClear();
  return has;
}

bool WovenVirtualThreads::IgnoreCarriers(JNIEnv* jni) {
  ignores_carriers_ = !MayExist(jni);
  return ignores_carriers_;
}

Result<void> WovenVirtualThreads::Begin(JNIEnv* jni, jclass counter) {
  const jclass loaded = LoadedClass(jni);
  if (loaded == nullptr) {
    if (!ignores_carriers_ || SetHasCarriers(jni, counter)) return {};
    return Fail("the JVM refuses to replace {}", weave::kCounterClass);
  }
  const auto type = static_cast<jclass>(jni->NewGlobalRef(loaded));
  jni->DeleteLocalRef(loaded);
  const bool woven = classes_.retransformer().RetransformAtOnce(std::span(&type, 1)) &&
                     classes_.announced() == kAnnouncedMethods;
  const bool expected = !ignores_carriers_ || !IsInitialised(type) || SetHasCarriers(jni, counter);
  jni->DeleteGlobalRef(type);
  if (woven && expected) return {};
  return Fail(
      "virtual threads cannot be followed, because the JVM refuses to replace {}: another agent "
      "may have changed it; use COUNTER=probe (--counter probe)",
      woven ? weave::kCounterClass : kVirtualThread);
}

// Retransforms the class of the static final field: compiled code has its value, and the VM then
// discards all code that the class's methods are inlined into. Compilations in progress fail.
bool WovenVirtualThreads::SetHasCarriers(JNIEnv* jni, jclass counter) {
  jni->SetStaticBooleanField(counter, jni->GetStaticFieldID(counter, "HAS_CARRIERS", "Z"),
                             JNI_TRUE);
  return jvmti_->RetransformClasses(1, &counter) == JVMTI_ERROR_NONE;
}

// Returns a local reference to the class of virtual threads, or null if it is not loaded.
jclass WovenVirtualThreads::LoadedClass(JNIEnv* jni) const {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti_->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return nullptr;
  jclass found = nullptr;
  for (const jclass loaded : std::span(classes, static_cast<size_t>(count))) {
    JvmtiString signature(jvmti_);
    const bool is_it =
        jvmti_->GetClassSignature(loaded, signature.out(), nullptr) == JVMTI_ERROR_NONE &&
        InternalName(signature.view()) == kVirtualThread;
    if (is_it) {
      found = loaded;
    } else {
      jni->DeleteLocalRef(loaded);
    }
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(classes));
  return found;
}

bool WovenVirtualThreads::IsInitialised(jclass type) const {
  jint status = 0;
  return jvmti_->GetClassStatus(type, &status) != JVMTI_ERROR_NONE ||
         (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0;
}

// Returns whether there may be virtual threads. They can exist only once their class is
// initialised.
bool WovenVirtualThreads::MayExist(JNIEnv* jni) const {
  if (attached_) return true;
  const jclass type = LoadedClass(jni);
  return type != nullptr && IsInitialised(type);
}

}  // namespace jprof::agent
