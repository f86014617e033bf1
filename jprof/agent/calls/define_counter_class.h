// Defines the classes that woven methods call in the boot loader and binds their native methods.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "common/result.h"

namespace jprof::agent {

// A class of java.lang. The name ends with a zero.
struct BootClass {
  std::string_view name;
  std::span<const uint8_t> bytes;
  std::span<const JNINativeMethod> natives;
};

// Returns a local reference to the initialised class. If an earlier recording has defined the
// class, it is used again. Call this in the live phase, on a Java thread, one call at a time.
Result<jclass> DefineBootClass(JavaVM* java, JNIEnv* jni, const BootClass& wanted);

// Does the same for JprofCounter, on which the other classes rely. `origin` is the address of the
// empty node, from which the class measures the places of nodes. Fails if another copy of this
// library has defined the class.
Result<jclass> DefineCounterClass(JavaVM* java, JNIEnv* jni,
                                  std::span<const JNINativeMethod> natives, uint64_t origin);

// Implements JprofCounter.answer. Returns the class with this Java name if woven code needs
// it in every class and `loader` is a class loader, else null. Executes no Java code, whose
// calls would be counted.
jclass JNICALL AnswerClass(JNIEnv* jni, jclass counter, jobject loader, jstring name);

}  // namespace jprof::agent
