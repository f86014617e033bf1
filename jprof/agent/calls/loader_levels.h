// Orders the classes of class loaders. The VM asks a class's loader for the classes that woven code
// refers to, and woven loaders answer without their own code (weave.h). So a loader's class must be
// woven before the classes that the loader defines, and restored after them.
#pragma once

#include <jvmti.h>

#include <climits>

namespace jprof::agent {

class LoaderLevels {
 public:
  // The level of classes that are not class loaders.
  static constexpr int kNoLoader = INT_MAX;

  // The object may be used only in the native method or callback that creates it.
  LoaderLevels(jvmtiEnv* jvmti, JNIEnv* jni);

  bool IsLoader(jclass type) const;

  // Returns a number that is greater than those of the class loaders that the VM asks for the
  // classes to which this class and its super classes refer. Executes no Java code.
  int LevelOf(jclass type) const;

 private:
  int LevelOfLoader(jclass type) const;

  jvmtiEnv* const jvmti_;
  JNIEnv* const jni_;
  const jclass class_loader_;
};

}  // namespace jprof::agent
