// The packages of the boot and the platform loader. All other packages belong to the application.
// They are read once, in VMInit; before that all classes count as the JDK's.
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

  // Reads the packages. Call this in VMInit or later. Returns false if the VM does not report them;
  // then no class is the application's.
  bool Read(JNIEnv* jni);

  // Returns whether a class belongs to the application. `class_name` is in internal form,
  // pkg/Class. Only reads memory, and can be called anywhere.
  bool IsApplicationClass(std::string_view class_name) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Packages = std::unordered_set<std::string, Hash, std::equal_to<>>;
  std::atomic<const Packages*> packages_ = nullptr;
};

}  // namespace jprof::agent
