// Weaves the classes of the VM: those that are loaded, by retransformation, and those that are
// being loaded, when the VM reports their class files. Restores them at the end.
//
// Class loaders are woven first and restored last, because the VM asks them for the classes that
// woven code refers to.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jprof/agent/calls/class_definitions.h"
#include "jprof/agent/calls/retransformer.h"
#include "jprof/agent/calls/woven_methods.h"
#include "jprof/agent/calls/woven_statistics.h"

namespace jprof::agent {

// Describes a class file that the VM reports.
struct ReportedFile {
  jclass redefined;  // null if the class is being defined
  jobject loader;
  const char* name;  // null if it is not known
  std::span<const uint8_t> bytes;
};
// States where its replacement, which JVMTI allocates, is stored.
struct NewFile {
  jint* size;
  unsigned char** data;
};

class WovenClasses {
 public:
  WovenClasses(jvmtiEnv* jvmti, engine::Session& session, const setup::Plan& plan,
               const options::AgentOptions& options)
      : jvmti_(jvmti), methods_(session, plan, options), retransformer_(jvmti, statistics_) {}

  // Handle the VM's events. Both must be enabled before classes are woven.
  void OnClassFile(JNIEnv* jni, const ReportedFile& file, const NewFile& woven);
  void OnClassLoad(JNIEnv* jni, jclass loaded);

  // Weave the loaded classes, in this order. Methods may count from then on. A class that was not
  // woven is named in the profile.
  void WeaveLoaders(JNIEnv* jni);
  void WeaveOthers(JNIEnv* jni);

  // Restores the original code, after the classes that are being defined are complete. Classes that
  // are loaded from now on are left as they are.
  void Restore(JNIEnv* jni);
  // Does the same without waiting for classes that are being defined.
  void RestoreAtOnce(JNIEnv* jni);
  // Frees what the events have collected. Call this when they are disabled.
  void Close(JNIEnv* jni);

  // Returns the number of methods of virtual threads that announce what they do.
  size_t announced() const { return announced_; }
  WovenMethods& methods() { return methods_; }
  WovenStatistics& statistics() { return statistics_; }
  Retransformer& retransformer() { return retransformer_; }

 private:
  using NameSet = std::set<std::string, std::less<>>;
  using Order = Retransformer::Order;
  using Kind = Retransformer::Kind;

  void Replace(const weave::Woven& woven, std::string_view class_name, const NewFile& file);
  void RetransformUnseen(JNIEnv* jni);
  std::vector<jclass> TakeUnseen();
  void AddUnseen(JNIEnv* jni, jclass loaded, std::string_view class_name);
  void SetBegun();
  void LeaveClasses();
  bool IsWoven(std::string_view class_name);
  void RestoreOthers(JNIEnv* jni);
  void RestoreLoaders(JNIEnv* jni);

  jvmtiEnv* const jvmti_;
  WovenStatistics statistics_;
  WovenMethods methods_;
  Retransformer retransformer_;
  std::atomic<bool> ending_ = false;          // classes are left as they are
  std::atomic<bool> loaders_answer_ = false;  // the classes of loaders are woven
  std::atomic<size_t> announced_ = 0;
  std::mutex names_lock_;
  NameSet woven_names_;  // names of classes, which may be the same for several loaders
  ClassDefinitions definitions_;
  std::mutex unseen_lock_;
  bool begun_ = false;          // methods count
  std::vector<jclass> unseen_;  // loaded before that, without a reported class file
};

}  // namespace jprof::agent
