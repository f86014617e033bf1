// Creates a JVM and runs HooksHost.calls in it. Usage: embedded CLASSPATH LIBRARY
#include <jni.h>

#include <string>

#include "expect.h"

OUT_OF_LINE int CallsJava(JNIEnv* env, jclass host, jmethodID method) {
  return env->CallStaticIntMethod(host, method, 2);
}

int main(int, char** arguments) {
  std::string path = std::string("-Djava.class.path=") + arguments[1];
  JavaVMOption options[] = {{path.data(), nullptr}, {const_cast<char*>("-Xmx64m"), nullptr}};
  JavaVMInitArgs how = {JNI_VERSION_1_8, 2, options, JNI_FALSE};
  JavaVM* vm = nullptr;
  JNIEnv* env = nullptr;
  if (JNI_CreateJavaVM(&vm, reinterpret_cast<void**>(&env), &how) != JNI_OK) return 1;
  const jclass host = env->FindClass("HooksHost");
  const jmethodID load = env->GetStaticMethodID(host, "load", "(Ljava/lang/String;)V");
  env->CallStaticVoidMethod(host, load, env->NewStringUTF(arguments[2]));
  const jmethodID method = env->GetStaticMethodID(host, "calls", "(I)I");
  for (int i = 0; i < 10; ++i) CallsJava(env, host, method);
  vm->DestroyJavaVM();
  return 0;
}
