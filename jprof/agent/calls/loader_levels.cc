#include "jprof/agent/calls/loader_levels.h"

#include <algorithm>

namespace jprof::agent {

LoaderLevels::LoaderLevels(jvmtiEnv* jvmti, JNIEnv* jni)
    : jvmti_(jvmti), jni_(jni), class_loader_(jni->FindClass("java/lang/ClassLoader")) {}

bool LoaderLevels::IsLoader(jclass type) const {
  return class_loader_ != nullptr && jni_->IsAssignableFrom(type, class_loader_);
}

int LoaderLevels::LevelOf(jclass type) const {
  return IsLoader(type) ? LevelOfLoader(type) : kNoLoader;
}

// Returns the level of a class of loaders. The recursion ends, because a loader exists before the
// classes that it defines.
int LoaderLevels::LevelOfLoader(jclass type) const {
  constexpr jint kReferences = 64;
  if (jni_->PushLocalFrame(kReferences) != 0) return 0;
  int level = 0;
  for (; type != nullptr; type = jni_->GetSuperclass(type)) {
    jobject loader = nullptr;
    if (jvmti_->GetClassLoader(type, &loader) == JVMTI_ERROR_NONE && loader != nullptr)
      level = std::max(level, 1 + LevelOfLoader(jni_->GetObjectClass(loader)));
  }
  jni_->PopLocalFrame(nullptr);
  return level;
}

}  // namespace jprof::agent
