#include "jprof/agent/calls/retransformer.h"

#include <map>
#include <ranges>
#include <utility>
#include <vector>

#include "jprof/agent/calls/loader_levels.h"
#include "jprof/agent/vm/jvmti_env.h"

namespace jprof::agent {

thread_local Retransformer::Progress* Retransformer::progress_ = nullptr;

// The references are global, because the VM's events, which compare them, have frames of local
// references of their own.
void Retransformer::RetransformLoaded(JNIEnv* jni, Order order, Kind kind, const Chosen& chosen) {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti_->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE)
    return statistics_.AddFailed("(all that were loaded before the recording)");
  const LoaderLevels levels(jvmti_, jni);
  std::vector<jclass> modifiable;
  for (const jclass loaded : std::span(classes, static_cast<size_t>(count))) {
    jboolean yes = JNI_FALSE;
    JvmtiString signature(jvmti_);
    if (levels.IsLoader(loaded) == (kind == Kind::kLoaders) &&
        jvmti_->IsModifiableClass(loaded, &yes) == JVMTI_ERROR_NONE && yes != JNI_FALSE &&
        jvmti_->GetClassSignature(loaded, signature.out(), nullptr) == JVMTI_ERROR_NONE &&
        chosen(InternalName(signature.view())))
      modifiable.push_back(static_cast<jclass>(jni->NewGlobalRef(loaded)));
    jni->DeleteLocalRef(loaded);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(classes));
  Retransform(jni, order, modifiable);
  for (const jclass loaded : modifiable) jni->DeleteGlobalRef(loaded);
}

// Retransforms the classes in groups by level. Those that are not linked have groups of their own,
// because classes that cannot be linked cannot be transformed either.
void Retransformer::Retransform(JNIEnv* jni, Order order, std::span<const jclass> classes) {
  const LoaderLevels levels(jvmti_, jni);
  std::map<std::pair<int, bool>, std::vector<jclass>> groups;
  for (const jclass loaded : classes)
    groups[{levels.LevelOf(loaded), !IsLinked(jvmti_, loaded)}].push_back(loaded);
  if (order == Order::kLoadersFirst) {
    for (const auto& [level, group] : groups) RetransformGroup(group);
  } else {
    for (const auto& [level, group] : std::views::reverse(groups)) RetransformGroup(group);
  }
}

bool Retransformer::RetransformAtOnce(std::span<const jclass> classes) {
  Progress progress = {classes};
  return RetransformAtOnce(progress);
}

bool Retransformer::RetransformAtOnce(Progress& progress) {
  progress_ = &progress;
  const jvmtiError error = jvmti_->RetransformClasses(static_cast<jint>(progress.classes.size()),
                                                      progress.classes.data());
  progress_ = nullptr;
  return error == JVMTI_ERROR_NONE;
}

void Retransformer::RetransformHalves(std::span<const jclass> classes) {
  if (classes.empty() || RetransformAtOnce(classes)) return;
  if (classes.size() == 1) return statistics_.AddRefused(jvmti_, classes.front());
  const size_t half = classes.size() / 2;
  RetransformHalves(classes.first(half));
  RetransformHalves(classes.subspan(half));
}

// The VM refuses all classes of a group because of a single one, which is the last that it has
// reported; if it has reported none, it can be any.
void Retransformer::RetransformGroup(std::span<const jclass> classes) {
  while (!classes.empty()) {
    Progress progress = {classes};
    if (RetransformAtOnce(progress)) return;
    if (classes.size() == 1) return statistics_.AddRefused(jvmti_, classes.front());
    if (progress.reported == 0) {
      const size_t half = classes.size() / 2;
      RetransformGroup(classes.first(half));
      classes = classes.subspan(half);
      continue;
    }
    const size_t good = progress.reported - 1;
    RetransformHalves(classes.first(good));
    RetransformHalves(classes.subspan(good, 1));
    classes = classes.subspan(good + 1);
  }
}

// The VM reports the classes in their order.
void Retransformer::Report(JNIEnv* jni, jclass reported_class) {
  Progress& progress = *progress_;
  for (size_t i = progress.reported; i < progress.classes.size(); ++i) {
    if (!jni->IsSameObject(progress.classes[i], reported_class)) continue;
    progress.reported = i + 1;
    return;
  }
}

}  // namespace jprof::agent
