/* Natives of the trainers: leaves, natives that call Java, and the loop that drives a shape. One thread only. */
#include <jni.h>

/* The methods that the native mids of the current copy call. */
static jmethodID leaf_static, leaf_virtual;

static void JNICALL Leaf(JNIEnv* env, jobject self) {
  (void)env;
  (void)self;
}

static jlong JNICALL Sum(JNIEnv* env, jclass type, jlong a, jint b) {
  (void)env;
  (void)type;
  return a + b;
}

static void JNICALL MidStatic(JNIEnv* env, jclass type, jobject o) {
  (void)o;
  (*env)->CallStaticVoidMethod(env, type, leaf_static);
}

static void JNICALL MidVirtual(JNIEnv* env, jobject self, jobject o) {
  (void)o;
  (*env)->CallVoidMethod(env, self, leaf_virtual);
}

JNIEXPORT void JNICALL Java_jprof_trainers_Transitions_bind(JNIEnv* env, jclass self, jclass copy,
                                                            jstring signature) {
  (void)self;
  const char* mid = (*env)->GetStringUTFChars(env, signature, NULL);
  const JNINativeMethod natives[] = {
      {"ns", "()V", (void*)Leaf},
      {"nv", "()V", (void*)Leaf},
      {"ks", (char*)mid, (void*)MidStatic},
      {"kv", (char*)mid, (void*)MidVirtual},
      {"ds", "(JI)J", (void*)Sum},
  };
  (*env)->RegisterNatives(env, copy, natives, sizeof natives / sizeof natives[0]);
  (*env)->ReleaseStringUTFChars(env, signature, mid);
}

static void Loop(JNIEnv* env, jobject target, jobject caller, jboolean is_static, jint calls) {
  const jclass type = (*env)->GetObjectClass(env, target);
  const jmethodID method = (*env)->FromReflectedMethod(env, caller);
  leaf_static = (*env)->GetStaticMethodID(env, type, "ls", "()V");
  leaf_virtual = (*env)->GetMethodID(env, type, "lv", "()V");
  if (is_static) {
    for (jint i = 0; i < calls; ++i) (*env)->CallStaticVoidMethod(env, type, method, target);
  } else {
    for (jint i = 0; i < calls; ++i) (*env)->CallVoidMethod(env, target, method, target);
  }
}

JNIEXPORT void JNICALL Java_jprof_trainers_Transitions_warm(JNIEnv* env, jclass self, jobject target,
                                                            jobject caller, jboolean is_static, jint calls) {
  (void)self;
  Loop(env, target, caller, is_static, calls);
}

JNIEXPORT void JNICALL Java_jprof_trainers_Transitions_drive(JNIEnv* env, jclass self, jobject target,
                                                             jobject caller, jboolean is_static, jint calls) {
  (void)self;
  Loop(env, target, caller, is_static, calls);
}
