#include "jprof/agent/calls/define_counter_class.h"

#include <array>

#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/weave/counter_class.h"
#include "jprof/weave/weave.h"

namespace jprof::agent {
namespace {

std::span<const JNINativeMethod> natives_to_bind;

std::unexpected<Error> Pending(JNIEnv* jni, std::string_view what) {
  if (jni->ExceptionCheck()) {
    jni->ExceptionDescribe();
    jni->ExceptionClear();
  }
  return Fail("cannot {} the class {}", what, weave::kCounterClass);
}

bool Bind(JNIEnv* jni, jclass counter, std::span<const JNINativeMethod> natives) {
  return jni->RegisterNatives(counter, natives.data(), static_cast<jint>(natives.size())) == JNI_OK;
}

void JNICALL OnClassPrepare(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jclass prepared) {
  JvmtiString signature(jvmti);
  if (jvmti->GetClassSignature(prepared, signature.out(), nullptr) == JVMTI_ERROR_NONE &&
      InternalName(signature.view()) == weave::kCounterClass)
    Bind(jni, prepared, natives_to_bind);
}

// Calls Class.forName(name, true, null), which prepares and initialises the class.
bool Initialise(JNIEnv* jni) {
  const jclass type = jni->FindClass("java/lang/Class");
  if (type == nullptr) return false;
  const jmethodID for_name = jni->GetStaticMethodID(
      type, "forName", "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
  if (for_name == nullptr) return false;
  const jstring name = jni->NewStringUTF("java.lang.JprofCounter");
  if (name == nullptr) return false;
  jni->CallStaticObjectMethod(type, for_name, name, JNI_TRUE, nullptr);
  return !jni->ExceptionCheck();
}

// Binds the natives and initialises the class. The VM warns on the console of natives of a platform
// class that are bound by code that such a class has not called. So they are bound while
// Class.forName prepares the class.
Result<void> BindAndInitialise(JavaVM* java, JNIEnv* jni,
                               std::span<const JNINativeMethod> natives) {
  jvmtiEnv* const jvmti = NewJvmtiEnv(java);
  if (jvmti == nullptr) return Fail("this JVM has no JVMTI 11");
  JvmtiEvents events;
  events.Add(JVMTI_EVENT_CLASS_PREPARE, &jvmtiEventCallbacks::ClassPrepare,
             kGuarded<OnClassPrepare>);
  natives_to_bind = natives;
  events.Install(jvmti);
  const bool done = Initialise(jni);
  jvmti->DisposeEnvironment();
  if (!done) return Pending(jni, "initialise");
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
  const bool is_throwable = text == "java.lang.Throwable";
  if (!is_counter && !is_throwable && text != "java.lang.StackOverflowError") return nullptr;
  const jclass loaders = jni->FindClass("java/lang/ClassLoader");
  if (loaders == nullptr || !jni->IsInstanceOf(loader, loaders)) return nullptr;
  if (is_counter) return counter;
  return jni->FindClass(is_throwable ? "java/lang/Throwable" : "java/lang/StackOverflowError");
}

Result<jclass> DefineCounterClass(JavaVM* java, JNIEnv* jni,
                                  std::span<const JNINativeMethod> natives, uint64_t origin) {
  if (const jclass earlier = jni->FindClass(weave::kCounterClass.data())) {
    if (!CountsFrom(jni, earlier, origin))
      return Fail(
          "another copy of libjprof.so has counted calls in this JVM, and only that copy can do so "
          "again: load it from the same path, or restart the JVM");
    if (!IsBoundHere(jni, earlier) && !Bind(jni, earlier, natives)) return Pending(jni, "bind");
    return earlier;
  }
  jni->ExceptionClear();
  const auto bytes = weave::CounterClass();
  const jclass defined = jni->DefineClass(weave::kCounterClass.data(), nullptr,
                                          reinterpret_cast<const jbyte*>(bytes.data()),
                                          static_cast<jsize>(bytes.size()));
  if (defined == nullptr) return Pending(jni, "define");
  if (auto done = BindAndInitialise(java, jni, natives); !done)
    return std::unexpected(done.error());
  return defined;
}

}  // namespace jprof::agent
