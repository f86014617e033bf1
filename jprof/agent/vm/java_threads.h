// The Java threads of one JVMTI environment. The caller may assign each a value (not 0) that
// identifies its native thread; it is kept in the thread's JVMTI storage of this environment. All
// functions require the live phase and must not be called in probes or signal handlers.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/agent/vm/native_threads.h"

namespace jprof::agent {

class JavaThreads {
 public:
  explicit JavaThreads(jvmtiEnv* jvmti = nullptr) : jvmti_(jvmti) {}

  std::string NameOf(jthread thread) const { return ThreadName(jvmti_, thread); }

  void Keep(jthread thread, uintptr_t value) const {
    jvmti_->SetThreadLocalStorage(thread, reinterpret_cast<void*>(value));
  }
  void Forget(jthread thread) const { Keep(thread, 0); }

  // Calls f(thread, name) for each live thread.
  template <typename F>
  void ForEachLive(JNIEnv* jni, F f) const {
    ForEach(jni, [&](jthread thread) { f(thread, NameOf(thread)); });
  }

  // Calls f(value, name) for each live thread with a value.
  template <typename F>
  void ForEachKept(JNIEnv* jni, F f) const {
    ForEach(jni, [&](jthread thread) {
      if (const uintptr_t value = ValueOf(thread); value != 0) f(value, NameOf(thread));
    });
  }

  // Matches the live threads without a value to `early` by their kernel names. For each match it
  // assigns the value, calls f(value, name) and removes the entry from `early`.
  template <typename F>
  void MatchEarly(JNIEnv* jni, std::vector<UnnamedThread>& early, F f) const {
    ForEach(jni, [&](jthread thread) {
      if (ValueOf(thread) != 0) return;
      std::string name = NameOf(thread);
      const auto match = TakeByJavaName(early, name);
      if (!match) return;
      Keep(thread, match->value);
      f(match->value, std::move(name));
    });
  }

 private:
  uintptr_t ValueOf(jthread thread) const {
    void* value = nullptr;
    if (jvmti_->GetThreadLocalStorage(thread, &value) != JVMTI_ERROR_NONE) return 0;
    return reinterpret_cast<uintptr_t>(value);
  }

  template <typename F>
  void ForEach(JNIEnv* jni, F f) const {
    jint count = 0;
    jthread* threads = nullptr;
    if (jvmti_->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return;
    for (jint i = 0; i < count; ++i) {
      f(threads[i]);
      jni->DeleteLocalRef(threads[i]);
    }
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(threads));
  }

  jvmtiEnv* jvmti_;
};

}  // namespace jprof::agent
