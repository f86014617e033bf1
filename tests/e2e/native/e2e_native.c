// The JNI library of the programs Natives, Attached and VirtualPinned, which count its calls into
// Java, and of Objects, which counts what it allocates.
#include <jni.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NATIVE(type, cls, name) JNIEXPORT type JNICALL Java_##cls##_##name

static JavaVM* vm;

static jlong JNICALL Registered(JNIEnv* env, jclass cls, jlong x) {
  (void)env, (void)cls;
  return x;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* the_vm, void* reserved) {
  (void)reserved;
  vm = the_vm;
  return JNI_VERSION_1_8;
}

static void RegisterOnce(JNIEnv* env) {
  jclass cls = (*env)->FindClass(env, "Natives");
  if (cls == NULL) {
    (*env)->ExceptionClear(env);
    return;
  }
  JNINativeMethod method = {(char*)"registered", (char*)"(J)J", (void*)Registered};
  (*env)->RegisterNatives(env, cls, &method, 1);
}

NATIVE(void, Natives, nop)(JNIEnv* env, jclass cls) {
  (void)cls;
  static int registered;
  if (!registered) {
    registered = 1;
    RegisterOnce(env);
  }
}

NATIVE(jint, Natives, add)(JNIEnv* env, jobject self, jint a, jint b) {
  (void)env, (void)self;
  return a + b;
}

NATIVE(jdouble, Natives, mix)
(JNIEnv* env, jclass cls, jint a, jdouble b, jlong c, jfloat d, jint e, jdouble f, jlong g, jfloat h,
 jint i, jdouble j) {
  (void)env, (void)cls;
  return a + b + c + d + e + f + g + h + i + j;
}

NATIVE(jint, Natives, locked)(JNIEnv* env, jclass cls, jint a) {
  (void)env, (void)cls;
  return a;
}

NATIVE(void, Natives, callBack)(JNIEnv* env, jobject self, jint n) {
  jmethodID back = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, self), "back", "(I)V");
  for (jint i = 0; i < n; ++i) (*env)->CallVoidMethod(env, self, back, i);
}

NATIVE(void, Natives, throwing)(JNIEnv* env, jclass cls) {
  (void)cls;
  jclass exception = (*env)->FindClass(env, "java/lang/IllegalStateException");
  (*env)->ThrowNew(env, exception, "from native");
}

static void CallBackThrows(JNIEnv* env, jclass cls) {
  (*env)->CallStaticVoidMethod(env, cls, (*env)->GetStaticMethodID(env, cls, "backThrows", "()V"));
}

NATIVE(void, Natives, passing)(JNIEnv* env, jclass cls) { CallBackThrows(env, cls); }

NATIVE(jint, Natives, clearing)(JNIEnv* env, jclass cls) {
  CallBackThrows(env, cls);
  if (!(*env)->ExceptionCheck(env)) return 0;
  (*env)->ExceptionClear(env);
  return 1;
}

NATIVE(jint, Natives, ladder)(JNIEnv* env, jclass cls, jint n) {
  return (*env)->CallStaticIntMethod(env, cls, (*env)->GetStaticMethodID(env, cls, "rung", "(I)I"), n);
}

struct Task {
  int index;
  int times;
  int calls;
  int daemon;
  jclass cls;
};

static void* RunTask(void* argument) {
  struct Task* task = argument;
  for (int t = 0; t < task->times; ++t) {
    char name[32];
    snprintf(name, sizeof name, "native-%d", task->index);
    JavaVMAttachArgs args = {JNI_VERSION_1_8, name, NULL};
    JNIEnv* env = NULL;
    jint rc = task->daemon ? (*vm)->AttachCurrentThreadAsDaemon(vm, (void**)&env, &args)
                           : (*vm)->AttachCurrentThread(vm, (void**)&env, &args);
    if (rc != JNI_OK) abort();
    jmethodID work = (*env)->GetStaticMethodID(env, task->cls, "work", "(I)V");
    for (int i = 0; i < task->calls; ++i) {
      (*env)->CallStaticVoidMethod(env, task->cls, work, (jint)i);
    }
    (*vm)->DetachCurrentThread(vm);
  }
  return NULL;
}

static void RunThreads(JNIEnv* env, jclass cls, int threads, int times, int calls, int daemon) {
  jclass global = (*env)->NewGlobalRef(env, cls);
  pthread_t* ids = calloc(threads, sizeof *ids);
  struct Task* tasks = calloc(threads, sizeof *tasks);
  for (int i = 0; i < threads; ++i) {
    tasks[i] = (struct Task){i + (daemon ? 100 : 0), times, calls, daemon, global};
    if (pthread_create(&ids[i], NULL, RunTask, &tasks[i]) != 0) abort();
  }
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  free(tasks);
  free(ids);
  (*env)->DeleteGlobalRef(env, global);
}

NATIVE(void, Attached, run)(JNIEnv* env, jclass cls, jint threads, jint times, jint calls) {
  RunThreads(env, cls, threads, times, calls, 0);
}

NATIVE(void, Attached, runDaemon)(JNIEnv* env, jclass cls, jint calls) {
  RunThreads(env, cls, 1, 1, calls, 1);
}

// Calls cls.pinnedYield(), which yields or sleeps with this native frame on the stack: the virtual
// thread is pinned.
NATIVE(void, VirtualPinned, pinned)(JNIEnv* env, jclass cls) {
  (*env)->CallStaticVoidMethod(env, cls, (*env)->GetStaticMethodID(env, cls, "pinnedYield", "()V"));
}

// Stores a new object of each of four kinds.
NATIVE(void, Objects, make)(JNIEnv* env, jclass cls, jint i) {
  static jclass point;
  static jfieldID kept;
  static jmethodID make;
  if (point == NULL) {
    point = (*env)->NewGlobalRef(env, (*env)->FindClass(env, "Objects$Point"));
    make = (*env)->GetMethodID(env, point, "<init>", "()V");
    kept = (*env)->GetStaticFieldID(env, cls, "kept", "[Ljava/lang/Object;");
  }
  jobjectArray all = (*env)->GetStaticObjectField(env, cls, kept);
  jobject made[] = {(*env)->NewObject(env, point, make), (*env)->NewIntArray(env, i % 7),
                    (*env)->NewStringUTF(env, "native"),
                    (*env)->NewObjectArray(env, i % 5, point, NULL)};
  for (int n = 0; n < 4; ++n) (*env)->SetObjectArrayElement(env, all, n, made[n]);
}
