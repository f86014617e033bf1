// Java threads and classes as JVMTI tells of them. Callable in the live phase, from any
// environment.
#pragma once

#include <jvmti.h>

#include <string>
#include <string_view>

namespace jprof::agent {

// Strips L and ; of a class signature.
inline std::string_view InternalName(std::string_view signature) {
  if (signature.size() >= 2 && signature.front() == 'L')
    return signature.substr(1, signature.size() - 2);
  return signature;
}

// Empty: the VM does not say.
inline std::string NameOf(jvmtiEnv* jvmti, jthread thread) {
  jvmtiThreadInfo info = {};
  if (jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE || info.name == nullptr) return "";
  std::string name = info.name;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  return name;
}

// Calls f(thread) for each live one; the reference is gone afterwards.
template <typename F>
void ForEachJavaThread(jvmtiEnv* jvmti, JNIEnv* jni, F f) {
  jint count = 0;
  jthread* threads = nullptr;
  if (jvmti->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    f(threads[i]);
    jni->DeleteLocalRef(threads[i]);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(threads));
}

}  // namespace jprof::agent
