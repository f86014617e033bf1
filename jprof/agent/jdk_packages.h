// The packages that the boot and the platform loader own: what is not among them is the
// application's. Read once, when the VM is up; before that everything is the JDK's.
#pragma once

#include <jni.h>

#include <atomic>
#include <string>
#include <string_view>
#include <unordered_set>

namespace jprof::agent {

class JdkPackages {
 public:
  // In VMInit. False: the VM would not tell (no class is then the application's).
  bool Read(JNIEnv* jni);

  // `class_name` in internal form, pkg/Class. Callable anywhere: loads only.
  bool OfApplication(std::string_view class_name) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Packages = std::unordered_set<std::string, Hash, std::equal_to<>>;
  std::atomic<const Packages*> packages_ = nullptr;
};

}  // namespace jprof::agent
