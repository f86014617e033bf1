#include "jprof/agent/objects/program_end.h"

namespace jprof::agent {
namespace {

constexpr char kName[] = "jprof end";

// Returns whether an exception was thrown, which is then no longer pending.
bool HasThrown(JNIEnv* jni) {
  if (!jni->ExceptionCheck()) return false;
  jni->ExceptionClear();
  return true;
}

}  // namespace

jthread NewThread(JNIEnv* jni, const char* name) {
  const jclass type = jni->FindClass("java/lang/Thread");
  const jstring text = jni->NewStringUTF(name);
  const jmethodID make =
      type != nullptr ? jni->GetMethodID(type, "<init>", "(Ljava/lang/String;)V") : nullptr;
  const jthread thread =
      make != nullptr && text != nullptr ? jni->NewObject(type, make, text) : nullptr;
  return HasThrown(jni) ? nullptr : thread;
}

bool ProgramEnd::CallRuntime(JNIEnv* jni, const char* method, const char* signature) const {
  const jclass type = jni->FindClass("java/lang/Runtime");
  if (type == nullptr) return !HasThrown(jni);
  const jmethodID get = jni->GetStaticMethodID(type, "getRuntime", "()Ljava/lang/Runtime;");
  const jobject runtime = get != nullptr ? jni->CallStaticObjectMethod(type, get) : nullptr;
  const jmethodID call = runtime != nullptr ? jni->GetMethodID(type, method, signature) : nullptr;
  if (call != nullptr) jni->CallVoidMethod(runtime, call, thread_);
  return !HasThrown(jni);
}

void ProgramEnd::Begin(JNIEnv* jni) {
  const jthread thread = NewThread(jni, kName);
  if (thread == nullptr) return;
  thread_ = jni->NewGlobalRef(thread);
  if (!CallRuntime(jni, "addShutdownHook", "(Ljava/lang/Thread;)V")) End(jni);
}

// The JVM refuses to remove a hook while it ends, when that does not matter any more.
void ProgramEnd::End(JNIEnv* jni) {
  if (thread_ == nullptr) return;
  CallRuntime(jni, "removeShutdownHook", "(Ljava/lang/Thread;)Z");
  jni->DeleteGlobalRef(thread_);
  thread_ = nullptr;
}

}  // namespace jprof::agent
