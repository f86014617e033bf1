// Implements the native methods of java.lang.JprofCounter, which woven methods call when a thread
// or a context is new. They find the counter through InUse, and return 0 if methods do not count.
#pragma once

#include <jni.h>

#include <span>

namespace jprof::agent {

// Returns the methods for RegisterNatives.
std::span<const JNINativeMethod> CounterNatives();

}  // namespace jprof::agent
