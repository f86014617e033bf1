#include "jprof/agent/vm/jdk_packages.h"

#include <algorithm>

namespace jprof::agent {
namespace {

// Calls Java methods; fails after the first exception. Local references are freed with the frame.
class Calls {
 public:
  explicit Calls(JNIEnv* jni) : jni_(jni) {}
  bool failed() const { return failed_; }

  jobject Static(const char* class_name, const char* method, const char* signature) {
    if (failed_) return nullptr;
    jclass type = jni_->FindClass(class_name);
    jmethodID id = type != nullptr ? jni_->GetStaticMethodID(type, method, signature) : nullptr;
    return Checked(id != nullptr ? jni_->CallStaticObjectMethod(type, id) : nullptr);
  }
  jobject Call(jobject object, const char* class_name, const char* method, const char* signature) {
    if (failed_ || object == nullptr) return nullptr;
    jclass type = jni_->FindClass(class_name);
    jmethodID id = type != nullptr ? jni_->GetMethodID(type, method, signature) : nullptr;
    return Checked(id != nullptr ? jni_->CallObjectMethod(object, id) : nullptr);
  }
  // Calls f(element) for each element of a java.util.Set.
  template <typename F>
  void ForEach(jobject set, F f) {
    auto array =
        static_cast<jobjectArray>(Call(set, "java/util/Set", "toArray", "()[Ljava/lang/Object;"));
    const jsize count = array != nullptr ? jni_->GetArrayLength(array) : 0;
    for (jsize i = 0; i < count && !failed_; ++i) {
      jobject element = jni_->GetObjectArrayElement(array, i);
      jni_->PushLocalFrame(16);
      f(element);
      jni_->PopLocalFrame(nullptr);
      jni_->DeleteLocalRef(element);
    }
  }
  std::string Text(jobject string) {
    auto java = static_cast<jstring>(string);
    const char* bytes = jni_->GetStringUTFChars(java, nullptr);
    if (bytes == nullptr) return {};
    std::string text = bytes;
    jni_->ReleaseStringUTFChars(java, bytes);
    return text;
  }

 private:
  jobject Checked(jobject result) {
    failed_ |= jni_->ExceptionCheck() != 0;
    jni_->ExceptionClear();
    return result;
  }
  JNIEnv* jni_;
  bool failed_ = false;
};

}  // namespace

bool JdkPackages::Read(JNIEnv* jni) {
  if (jni->PushLocalFrame(64) != 0) return false;
  auto* packages = new Packages;
  Calls java(jni);
  jobject platform =
      java.Static("java/lang/ClassLoader", "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");
  jobject layer = java.Static("java/lang/ModuleLayer", "boot", "()Ljava/lang/ModuleLayer;");
  java.ForEach(
      java.Call(layer, "java/lang/ModuleLayer", "modules", "()Ljava/util/Set;"),
      [&](jobject module) {
        jobject loader =
            java.Call(module, "java/lang/Module", "getClassLoader", "()Ljava/lang/ClassLoader;");
        if (loader != nullptr && !jni->IsSameObject(loader, platform)) return;
        java.ForEach(java.Call(module, "java/lang/Module", "getPackages", "()Ljava/util/Set;"),
                     [&](jobject name) {
                       std::string package = java.Text(name);
                       std::ranges::replace(package, '.', '/');
                       packages->insert(std::move(package));
                     });
      });
  jni->PopLocalFrame(nullptr);
  if (java.failed() || packages->empty()) {
    delete packages;
    return false;
  }
  packages_.store(packages, std::memory_order_release);
  return true;
}

bool JdkPackages::IsApplicationClass(std::string_view class_name) const {
  const Packages* packages = packages_.load(std::memory_order_acquire);
  const size_t slash =
      class_name.rfind('/', class_name.find('+'));  // a hidden class: pkg/Class+0x12/...
  const std::string_view package =
      class_name.substr(0, slash == std::string_view::npos ? 0 : slash);
  return packages != nullptr && !packages->contains(package);
}

}  // namespace jprof::agent
