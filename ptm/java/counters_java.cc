// The native methods of jprof.counters.Native. Java has checked threads, indexes and lengths.
#include <jni.h>

#include <string>
#include <vector>

#include "ptm/library/jprof_counters.h"

namespace {

jprof_thread_counters* Thread(jlong address) {
  return reinterpret_cast<jprof_thread_counters*>(address);
}

// Copies the names. Returns fewer if the VM has no memory, with an exception pending.
std::vector<std::string> TextsOf(JNIEnv* env, jobjectArray names) {
  std::vector<std::string> texts;
  const jsize count = env->GetArrayLength(names);
  for (jsize i = 0; i < count; ++i) {
    const auto name = static_cast<jstring>(env->GetObjectArrayElement(names, i));
    const char* text = env->GetStringUTFChars(name, nullptr);
    if (text == nullptr) break;
    texts.emplace_back(text);
    env->ReleaseStringUTFChars(name, text);
    env->DeleteLocalRef(name);
  }
  return texts;
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_jprof_counters_Native_init(JNIEnv* env, jclass, jobjectArray names) {
  const std::vector<std::string> texts = TextsOf(env, names);
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  jprof_counters* set = nullptr;
  jprof_counters_init(&set, pointers.data(), static_cast<int>(pointers.size()));
  return reinterpret_cast<jlong>(set);
}

JNIEXPORT jstring JNICALL Java_jprof_counters_Native_error(JNIEnv* env, jclass) {
  return env->NewStringUTF(jprof_counters_error());
}

JNIEXPORT jlong JNICALL Java_jprof_counters_Native_start(JNIEnv*, jclass, jlong set) {
  return reinterpret_cast<jlong>(jprof_thread_start(reinterpret_cast<jprof_counters*>(set)));
}

JNIEXPORT jlong JNICALL Java_jprof_counters_Native_readOne(JNIEnv*, jclass, jlong thread) {
  return jprof_read_one(Thread(thread));
}

JNIEXPORT void JNICALL Java_jprof_counters_Native_readTwo(JNIEnv* env, jclass, jlong thread,
                                                          jlongArray values) {
  jlong read[2];
  jprof_read_two(Thread(thread), read);
  env->SetLongArrayRegion(values, 0, 2, read);
}

JNIEXPORT void JNICALL Java_jprof_counters_Native_readAll(JNIEnv* env, jclass, jlong thread,
                                                          jlongArray values, jint size) {
  jlong read[JPROF_MAX_METRICS];
  jprof_read_all(Thread(thread), read);
  env->SetLongArrayRegion(values, 0, size, read);
}

JNIEXPORT void JNICALL Java_jprof_counters_Native_status(JNIEnv* env, jclass, jlong thread,
                                                         jint metric, jdoubleArray values) {
  jprof_metric_status status = {};
  jprof_status(Thread(thread), metric, &status);
  const jdouble copied[] = {status.running, static_cast<jdouble>(status.user_only),
                            static_cast<jdouble>(status.by_call),
                            static_cast<jdouble>(status.failed_reads)};
  env->SetDoubleArrayRegion(values, 0, 4, copied);
}

JNIEXPORT void JNICALL Java_jprof_counters_Native_stop(JNIEnv*, jclass, jlong thread) {
  jprof_thread_stop(Thread(thread));
}

JNIEXPORT void JNICALL Java_jprof_counters_Native_terminate(JNIEnv*, jclass, jlong set) {
  jprof_counters_terminate(reinterpret_cast<jprof_counters*>(set));
}

}  // extern "C"
