// The packages of the boot and the platform loader; all other packages belong to the application.
// Read once, in VMInit; before that all classes count as the JDK's.
#pragma once

#include <jni.h>

#include <atomic>
#include <string>
#include <string_view>
#include <unordered_set>

namespace jprof::agent {

class JdkPackages {
 public:
  JdkPackages() = default;
  JdkPackages(const JdkPackages&) = delete;
  ~JdkPackages() { delete packages_.load(); }

  // Call in VMInit or later. Returns false if the VM does not report them; then no class is the
  // application's.
  bool Read(JNIEnv* jni);

  // `class_name`: in internal form, pkg/Class. Callable anywhere: only reads memory.
  bool IsApplicationClass(std::string_view class_name) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Packages = std::unordered_set<std::string, Hash, std::equal_to<>>;
  std::atomic<const Packages*> packages_ = nullptr;
};

}  // namespace jprof::agent
