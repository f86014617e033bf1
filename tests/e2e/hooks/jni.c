// The native part of HooksHost.java.
#include <jni.h>

#include "expect.h"

static OUT_OF_LINE int CallsBack(JNIEnv* env, jclass of, jmethodID method, int i) {
  return (*env)->CallStaticIntMethod(env, of, method, i);
}
JNIEXPORT jint JNICALL Java_HooksHost_work(JNIEnv* env, jclass of, jint rounds) {
  const jmethodID method = (*env)->GetStaticMethodID(env, of, "back", "(I)I");
  int sum = 0;
  for (int i = 0; i < rounds; ++i) sum += CallsBack(env, of, method, i);
  return sum;
}
