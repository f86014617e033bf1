// Defines java.lang.JprofCounter in the boot loader and binds its native methods.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <span>

#include "common/result.h"

namespace jprof::agent {

// Returns a local reference to the initialised class. If an earlier recording has defined the
// class, it is used again. Call in the live phase, on a Java thread, one call at a time. `origin`
// is the address of the empty node, from which the class measures the places of nodes. Fails if
// another copy of this library has defined the class.
Result<jclass> DefineCounterClass(JavaVM* java, JNIEnv* jni,
                                  std::span<const JNINativeMethod> natives, uint64_t origin);

// JprofCounter.answer. Returns the class with a name, as in Java, if it is one that woven code
// needs in every class and `loader` is a class loader, or null. Executes no Java code, whose calls
// would be counted.
jclass JNICALL AnswerClass(JNIEnv* jni, jclass counter, jobject loader, jstring name);

}  // namespace jprof::agent
