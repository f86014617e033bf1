// Retransforms many classes at a time, because each time that the VM replaces classes it stops the
// program and visits all classes. Classes of loaders come before, or after, those that they define.
//
// `jni` belongs to the calling thread.
#pragma once

#include <jvmti.h>

#include <functional>
#include <span>
#include <string_view>

#include "jprof/agent/calls/woven_statistics.h"

namespace jprof::agent {

class Retransformer {
 public:
  // Order states whether the classes of loaders come before those that they define. Kind states
  // which classes are meant: those of loaders, or all others.
  enum class Order : uint8_t { kLoadersFirst, kLoadersLast };
  enum class Kind : uint8_t { kLoaders, kOthers };
  using Chosen = std::function<bool(std::string_view class_name)>;

  // Adds the classes that the VM refuses to replace to `statistics`.
  Retransformer(jvmtiEnv* jvmti, WovenStatistics& statistics)
      : jvmti_(jvmti), statistics_(statistics) {}

  // Retransforms the loaded classes of this kind with these names.
  void RetransformLoaded(JNIEnv* jni, Order order, Kind kind, const Chosen& chosen);
  // Retransforms these classes, which are global references.
  void Retransform(JNIEnv* jni, Order order, std::span<const jclass> classes);
  // Retransforms all of these classes, or returns false.
  bool RetransformAtOnce(std::span<const jclass> classes);

  // Returns whether the calling thread is in a function of this class.
  static bool IsActive() { return progress_ != nullptr; }
  // Notes that the VM has reported a class on the calling thread, which IsActive.
  static void Report(JNIEnv* jni, jclass reported_class);

 private:
  // Counts the progress of one call of RetransformClasses.
  struct Progress {
    std::span<const jclass> classes;
    size_t reported = 0;  // number reported by the VM's events
  };
  static thread_local Progress* progress_;

  bool RetransformAtOnce(Progress& progress);
  void RetransformHalves(std::span<const jclass> classes);
  void RetransformGroup(std::span<const jclass> classes);

  jvmtiEnv* const jvmti_;
  WovenStatistics& statistics_;
};

}  // namespace jprof::agent
