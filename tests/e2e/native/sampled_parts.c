// Native code of the programs SampledParts and SampledStorm.
#include <jni.h>

// Keeps its frame; a function that its caller enters by a jump would not.
static __attribute__((noinline)) jlong Inner(jlong n) {
  unsigned long long x = (unsigned long long)n | 1;
  for (jlong i = 0; i < n; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return (jlong)x;
}

JNIEXPORT jlong JNICALL Java_SampledParts_nativeSpin(JNIEnv* env, jclass cls, jlong n) {
  (void)env, (void)cls;
  return Inner(n) + 1;
}

// For the program SampledStorm: while it runs, the collectors must not move the array.
JNIEXPORT jlong JNICALL Java_SampledStorm_critical(JNIEnv* env, jclass cls, jintArray array) {
  (void)cls;
  const jsize length = (*env)->GetArrayLength(env, array);
  jint* items = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
  if (items == NULL) return -1;
  jlong sum = 0;
  for (jsize i = 0; i < length; ++i) sum += items[i];
  (*env)->ReleasePrimitiveArrayCritical(env, array, items, JNI_ABORT);
  return sum;
}
