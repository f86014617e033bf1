#include "jprof/agent/calls/define_counter_class.h"

#include <algorithm>
#include <array>
#include <string>

#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/weave/counter_class.h"
#include "jprof/weave/weave.h"

namespace jprof::agent {
namespace {

const BootClass* to_bind;

std::unexpected<Error> Pending(JNIEnv* jni, std::string_view what, std::string_view name) {
  if (jni->ExceptionCheck()) {
    jni->ExceptionDescribe();
    jni->ExceptionClear();
  }
  return Fail("cannot {} the class {}", what, name);
}

bool Bind(JNIEnv* jni, jclass counter, std::span<const JNINativeMethod> natives) {
  return jni->RegisterNatives(counter, natives.data(), static_cast<jint>(natives.size())) == JNI_OK;
}

void JNICALL OnClassPrepare(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jclass prepared) {
  JvmtiString signature(jvmti);
  if (jvmti->GetClassSignature(prepared, signature.out(), nullptr) == JVMTI_ERROR_NONE &&
      InternalName(signature.view()) == to_bind->name)
    Bind(jni, prepared, to_bind->natives);
}

// Calls Class.forName(name, true, null), which prepares and initialises the class.
bool Initialise(JNIEnv* jni, std::string_view class_name) {
  const jclass type = jni->FindClass("java/lang/Class");
  if (type == nullptr) return false;
  const jmethodID for_name = jni->GetStaticMethodID(
      type, "forName", "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
  if (for_name == nullptr) return false;
  std::string java_name(class_name);
  std::ranges::replace(java_name, '/', '.');
  const jstring name = jni->NewStringUTF(java_name.c_str());
  if (name == nullptr) return false;
  jni->CallStaticObjectMethod(type, for_name, name, JNI_TRUE, nullptr);
  return !jni->ExceptionCheck();
}

// Binds the natives and initialises the class. The VM warns on the console of natives of a platform
// class that are bound by code that such a class has not called. So they are bound while
// Class.forName prepares the class.
Result<void> BindAndInitialise(JavaVM* java, JNIEnv* jni, const BootClass& wanted) {
  jvmtiEnv* const jvmti = NewJvmtiEnv(java);
  if (jvmti == nullptr) return Fail("this JVM has no JVMTI 11");
  JvmtiEvents events;
  events.Add(JVMTI_EVENT_CLASS_PREPARE, &jvmtiEventCallbacks::ClassPrepare,
             kGuarded<OnClassPrepare>);
  to_bind = &wanted;
  events.Install(jvmti);
  const bool done = Initialise(jni, wanted.name);
  jvmti->DisposeEnvironment();
  if (!done) return Pending(jni, "initialise", wanted.name);
  return {};
}

// Returns whether the class's natives are those of this agent, not those of another copy of the
// library.
bool IsBoundHere(JNIEnv* jni, jclass counter) {
  const jmethodID offset = jni->GetStaticMethodID(counter, "currentOffset", "()J");
  const jlong bound = offset != nullptr ? jni->CallStaticLongMethod(counter, offset) : 0;
  const bool failed = jni->ExceptionCheck();
  jni->ExceptionClear();
  return !failed && bound != 0;
}

// Returns whether the initialised class counts at the addresses of this copy of the library, which
// compiled code contains as constants.
bool CountsFrom(JNIEnv* jni, jclass counter, uint64_t origin) {
  const jfieldID empty = jni->GetStaticFieldID(counter, "EMPTY", "J");
  const auto counted =
      empty != nullptr ? static_cast<uint64_t>(jni->GetStaticLongField(counter, empty)) : 0;
  jni->ExceptionClear();
  return counted == origin;
}

}  // namespace

jclass JNICALL AnswerClass(JNIEnv* jni, jclass counter, jobject loader, jstring name) {
  std::array<char, 64> bytes = {};  // with a final zero
  if (name == nullptr || jni->GetStringUTFLength(name) >= static_cast<jsize>(bytes.size()))
    return nullptr;
  jni->GetStringUTFRegion(name, 0, jni->GetStringLength(name), bytes.data());
  const std::string_view text = bytes.data();
  const bool is_counter = text == "java.lang.JprofCounter";
  const bool is_locks = text == "java.lang.JprofLocks";
  const bool is_throwable = text == "java.lang.Throwable";
  if (!is_counter && !is_locks && !is_throwable && text != "java.lang.StackOverflowError")
    return nullptr;
  const jclass loaders = jni->FindClass("java/lang/ClassLoader");
  if (loaders == nullptr || !jni->IsInstanceOf(loader, loaders)) return nullptr;
  if (is_counter) return counter;
  if (is_locks) return jni->FindClass(weave::kLocksClass.data());
  return jni->FindClass(is_throwable ? "java/lang/Throwable" : "java/lang/StackOverflowError");
}

Result<jclass> DefineBootClass(JavaVM* java, JNIEnv* jni, const BootClass& wanted) {
  if (const jclass earlier = jni->FindClass(wanted.name.data())) return earlier;
  jni->ExceptionClear();
  const jclass defined = jni->DefineClass(wanted.name.data(), nullptr,
                                          reinterpret_cast<const jbyte*>(wanted.bytes.data()),
                                          static_cast<jsize>(wanted.bytes.size()));
  if (defined == nullptr) return Pending(jni, "define", wanted.name);
  if (auto done = BindAndInitialise(java, jni, wanted); !done) return std::unexpected(done.error());
  return defined;
}

Result<jclass> DefineCounterClass(JavaVM* java, JNIEnv* jni,
                                  std::span<const JNINativeMethod> natives, uint64_t origin) {
  if (const jclass earlier = jni->FindClass(weave::kCounterClass.data())) {
    if (!CountsFrom(jni, earlier, origin))
      return Fail(
          "another copy of libjprof.so has counted calls in this JVM, and only that copy can do so "
          "again: load it from the same path, or restart the JVM");
    if (!IsBoundHere(jni, earlier) && !Bind(jni, earlier, natives))
      return Pending(jni, "bind", weave::kCounterClass);
    return earlier;
  }
  jni->ExceptionClear();
  return DefineBootClass(java, jni, {weave::kCounterClass, weave::CounterClass(), natives});
}

}  // namespace jprof::agent
