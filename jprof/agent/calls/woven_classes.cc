#include "jprof/agent/calls/woven_classes.h"

#include <cstring>
#include <utility>

#include "common/monotonic.h"
#include "jprof/agent/vm/jvmti_env.h"

namespace jprof::agent {
namespace {

// The end of a recording waits this long for classes that are being defined.
constexpr int64_t kMostDefinitionNanos = 500'000'000;

// Returns the hash of a loader, or 0 for the boot loader.
jint IdentityHash(jvmtiEnv* jvmti, jobject loader) {
  jint hash = 0;
  if (loader != nullptr) jvmti->GetObjectHashCode(loader, &hash);
  return hash;
}

// Returns the hash of the loader that has defined the class.
jint HashOfLoader(jvmtiEnv* jvmti, JNIEnv* jni, jclass type) {
  jobject loader = nullptr;
  if (jvmti->GetClassLoader(type, &loader) != JVMTI_ERROR_NONE) return 0;
  const jint hash = IdentityHash(jvmti, loader);
  jni->DeleteLocalRef(loader);
  return hash;
}

bool IsModifiable(jvmtiEnv* jvmti, jclass type) {
  jboolean modifiable = JNI_FALSE;
  return jvmti->IsModifiableClass(type, &modifiable) == JVMTI_ERROR_NONE && modifiable != JNI_FALSE;
}

}  // namespace

void WovenClasses::WeaveLoaders(JNIEnv* jni) {
  retransformer_.RetransformLoaded(jni, Order::kLoadersFirst, Kind::kLoaders,
                                   [](std::string_view) { return true; });
  RetransformUnseen(jni);
  loaders_answer_ = true;
}

void WovenClasses::WeaveOthers(JNIEnv* jni) {
  retransformer_.RetransformLoaded(jni, Order::kLoadersFirst, Kind::kOthers,
                                   [](std::string_view name) { return name != kVirtualThread; });
  SetBegun();
  RetransformUnseen(jni);
}

void WovenClasses::OnClassFile(JNIEnv* jni, const ReportedFile& file, const NewFile& replacement) {
  const bool is_own = file.redefined != nullptr && Retransformer::IsActive();
  if (is_own) Retransformer::Report(jni, file.redefined);
  if (ending_) return;
  // Until the loaders are woven, classes are not woven while the program or another agent defines
  // them: this agent retransforms them later.
  if (!loaders_answer_ && file.loader != nullptr && !is_own) return;
  const uint64_t begin = MonotonicNanos();
  const auto woven = methods_.Weave(file.bytes);
  statistics_.AddTime(MonotonicNanos() - begin);
  const std::string_view name = woven                  ? woven->class_name
                                : file.name != nullptr ? file.name
                                                       : kUnnamedClass;
  if (file.redefined == nullptr)
    definitions_.AddFile(jni, {IdentityHash(jvmti_, file.loader), std::string(name)});
  // Restore waits for the files that were added before `ending_` was set.
  if (ending_) return;
  if (!woven) return statistics_.AddFailed(name);
  statistics_.AddSkipped(*woven, name);
  if (name == kVirtualThread) announced_ = woven->announced;
  if (!woven->bytes.empty()) Replace(*woven, name, replacement);
}

void WovenClasses::Replace(const weave::Woven& woven, std::string_view class_name,
                           const NewFile& file) {
  unsigned char* copy = nullptr;
  if (jvmti_->Allocate(static_cast<jlong>(woven.bytes.size()), &copy) != JVMTI_ERROR_NONE)
    return statistics_.AddFailed(class_name);
  std::memcpy(copy, woven.bytes.data(), woven.bytes.size());
  {
    const std::lock_guard guard(names_lock_);
    woven_names_.emplace(class_name);
  }
  *file.size = static_cast<jint>(woven.bytes.size());
  *file.data = copy;
  statistics_.AddWoven(woven);
}

// Hidden classes have no event of a class file, and are not modifiable. A class that is linked was
// defined before: it is reported again when another loader finds it.
void WovenClasses::OnClassLoad(JNIEnv* jni, jclass loaded) {
  JvmtiString signature(jvmti_);
  if (jvmti_->GetClassSignature(loaded, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  const std::string_view name = InternalName(signature.view());
  const bool seen =
      definitions_.TakeFile(jni, {HashOfLoader(jvmti_, jni, loaded), std::string(name)});
  if (seen || ending_ || IsLinked(jvmti_, loaded) || !IsModifiable(jvmti_, loaded)) return;
  AddUnseen(jni, loaded, name);
}

// Retransforms classes that have not been woven although they were loaded when the recording had
// begun: their definition began before the class file's event was enabled, or before the loaders
// were woven.
void WovenClasses::RetransformUnseen(JNIEnv* jni) {
  const std::vector<jclass> unseen = TakeUnseen();
  retransformer_.Retransform(jni, Order::kLoadersFirst, unseen);
  for (const jclass loaded : unseen) jni->DeleteGlobalRef(loaded);
}

std::vector<jclass> WovenClasses::TakeUnseen() {
  const std::lock_guard guard(unseen_lock_);
  return std::exchange(unseen_, {});
}

// Ends the collection of such classes: those that are loaded from now on may run at once and are
// not woven.
void WovenClasses::SetBegun() {
  const std::lock_guard guard(unseen_lock_);
  begun_ = true;
}

void WovenClasses::AddUnseen(JNIEnv* jni, jclass loaded, std::string_view class_name) {
  const std::lock_guard guard(unseen_lock_);
  if (begun_) return statistics_.AddFailed(class_name);
  unseen_.push_back(static_cast<jclass>(jni->NewGlobalRef(loaded)));
}

bool WovenClasses::IsWoven(std::string_view class_name) {
  const std::lock_guard guard(names_lock_);
  return woven_names_.contains(class_name);
}

void WovenClasses::LeaveClasses() {
  statistics_.End();
  ending_ = true;
}

void WovenClasses::Restore(JNIEnv* jni) {
  const int64_t deadline = MonotonicNanos() + kMostDefinitionNanos;
  definitions_.AwaitClasses(deadline);
  LeaveClasses();
  const bool defined = definitions_.AwaitClasses(deadline);  // those that have begun meanwhile
  RestoreOthers(jni);
  if (defined) RestoreLoaders(jni);  // else they answer for the classes that are still defined
}

void WovenClasses::RestoreAtOnce(JNIEnv* jni) {
  LeaveClasses();
  RestoreOthers(jni);
  RestoreLoaders(jni);
}

// Restores all woven classes except class loaders. Classes that were being woven when this began
// may be complete only when the others are done.
void WovenClasses::RestoreOthers(JNIEnv* jni) {
  NameSet restored;
  for (int pass = 0; pass < 2; ++pass) {
    const NameSet before = restored;
    retransformer_.RetransformLoaded(jni, Order::kLoadersLast, Kind::kOthers,
                                     [&](std::string_view name) {
                                       if (!IsWoven(name) || before.contains(name)) return false;
                                       restored.emplace(name);
                                       return true;
                                     });
  }
}

// Restores the class loaders last: woven classes that are not linked yet are linked when they are
// restored, and then ask their loader.
void WovenClasses::RestoreLoaders(JNIEnv* jni) {
  retransformer_.RetransformLoaded(jni, Order::kLoadersLast, Kind::kLoaders,
                                   [&](std::string_view name) { return IsWoven(name); });
}

void WovenClasses::Close(JNIEnv* jni) {
  SetBegun();
  for (const jclass loaded : TakeUnseen()) jni->DeleteGlobalRef(loaded);
}

}  // namespace jprof::agent
