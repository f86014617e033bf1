// The event source of woven counting (docs/WOVEN.md): methods count themselves, by calls of
// java.lang.JprofCounter that the weaver inserts into classes when they are loaded or, if they are
// loaded already, by retransformation.
//
// Each thread has its own current node, which it gets at its first event, in a word of the VM's
// thread. No other thread writes there.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "jprof/agent/calls/class_definitions.h"
#include "jprof/agent/calls/uncounted.h"
#include "jprof/agent/vm/agent_use.h"
#include "jprof/agent/vm/jvmti_env.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/vm/vm_structs.h"
#include "jprof/weave/weave.h"

namespace jprof::agent {

// Fails if this VM, its Java version or this build of jprof lacks something that woven counting
// requires. The error states what is missing.
Result<void> CheckWovenCounter(int java_version);
// Fails if this VM writes an archive of its classes, which makes it crash if classes are woven.
Result<void> CheckNoArchive(const hotspot::VmStructs& structs);

class WovenCounter : public engine::MethodSource {
 public:
  // Requests the capabilities. Fails if this VM lacks what is required.
  static Result<std::unique_ptr<WovenCounter>> Open(jvmtiEnv* jvmti,
                                                    const hotspot::VmStructs& structs);
  // Adds the events of classes that are loaded. They stay disabled until Begin.
  void AddTo(JvmtiEvents& events);

  // Defines the counter class and weaves all classes that are loaded, and from then on those that
  // are being loaded. Then methods begin to count. A class that was not woven is named in the
  // profile. `attached` is whether this is a running JVM. Call this in VMInit or in a running JVM.
  Result<void> Begin(JNIEnv* jni, engine::Session& session, bool attached);
  // Ends the counting. Classes that are loaded from now on are left as they are, and the original
  // code of the others is restored. Methods that are running finish as they are, without counting.
  void End(JNIEnv* jni);

  // Describes a weave::Method.
  bool Describe(uint64_t method, engine::MethodText* text) override;
  FrameKind Classify(uint64_t) override { return FrameKind::kWoven; }

  // Returns one line about what was woven so far.
  std::string Summary() const;

 private:
  struct Counts {
    std::atomic<uint64_t> classes = 0;  // woven classes
    std::atomic<uint64_t> methods = 0;  // methods that count
    std::atomic<uint64_t> left = 0;     // methods that were to be woven but were too large
    std::atomic<uint64_t> failed = 0;   // classes that could not be parsed, or that the VM refuses
    std::atomic<uint64_t> nanoseconds = 0;
  };
  struct Call;
  using NameSet = std::set<std::string, std::less<>>;
  using Chosen = std::function<bool(std::string_view)>;
  enum class Order : uint8_t { kLoadersFirst, kLoadersLast };
  enum class Kind : uint8_t { kLoaders, kOthers };
  // The progress of one call of RetransformClasses.
  struct Progress {
    std::span<const jclass> classes;
    size_t reported = 0;  // number reported by the VM's events
    void Report(JNIEnv* jni, jclass reported_class);
  };
  static thread_local Progress* retransforming;            // on this thread
  static std::atomic<WovenCounter*> counting;              // between Begin and End
  static WovenCounter* CounterInUse(const AgentUse& use);  // null if there is none

  WovenCounter(jvmtiEnv* jvmti, uint64_t current_at) : jvmti_(jvmti), current_at_(current_at) {}

  static void JNICALL OnClassFile(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject loader,
                                  const char* name, jobject domain, jint bytes,
                                  const unsigned char* data, jint* new_bytes,
                                  unsigned char** new_data);
  static void JNICALL OnClassLoad(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass loaded);
  static jboolean JNICALL HasCarriers(JNIEnv*, jclass);
  static void JNICALL ExpectVirtualThreads(JNIEnv*, jclass);
  static jlong JNICALL EmptyNode(JNIEnv*, jclass);
  static jlong JNICALL CurrentOffset(JNIEnv*, jclass);
  static jlong JNICALL Root(JNIEnv*, jclass, jlong vm_thread);
  static jlong JNICALL Add(JNIEnv*, jclass, jlong parent, jint id);
  static jlong JNICALL Overflow(JNIEnv*, jclass, jlong parent);
  static void JNICALL Mounted(JNIEnv*, jclass, jlong vm_thread, jlong id);

  Result<void> DefineClass(JNIEnv* jni);
  void SetRegion(JNIEnv* jni, uint64_t begin) const;
  Result<void> FollowVirtualThreads(JNIEnv* jni);
  jclass LoadedVirtualThread(JNIEnv* jni) const;
  bool IsInitialised(jclass type) const;
  bool MayHaveVirtualThreads(JNIEnv* jni) const;
  bool SetHasCarriers(JNIEnv* jni);
  void StopCounting(JNIEnv* jni);
  void Retransform(JNIEnv* jni, Order order, Kind kind, const Chosen& chosen);
  void Retransform(JNIEnv* jni, Order order, std::span<const jclass> classes);
  void Retransform(std::span<const jclass> classes);
  void RetransformUnseen(JNIEnv* jni);
  std::vector<jclass> TakeUnseen();
  void SetBegun();
  void AddUnseen(JNIEnv* jni, jclass loaded, std::string_view class_name);
  bool IsWoven(std::string_view class_name);
  void RestoreClasses(JNIEnv* jni);
  void RestoreLoaders(JNIEnv* jni);
  bool RetransformAtOnce(Progress& progress);
  void RetransformHalves(std::span<const jclass> classes);
  Result<weave::Woven> Weave(std::span<const uint8_t> class_file);
  void AddLeft(const weave::Woven& woven, std::string_view class_name);
  void AddFailed(std::string_view class_name);
  void AddRefused(jclass refused);
  weave::Decision Decide(const weave::Method& method);

  jvmtiEnv* const jvmti_;
  const uint64_t current_at_;  // offset in the VM's thread
  engine::Session* session_ = nullptr;
  jclass counter_ = nullptr;
  bool attached_ = false;
  bool ignores_carriers_ = false;     // HAS_CARRIERS is false, but the VM has virtual threads
  std::atomic<bool> ending_ = false;  // classes are left as they are
  std::atomic<bool> loaders_answer_ = false;  // the classes of loaders are woven
  std::atomic<size_t> announces_ = 0;         // methods of VirtualThread
  std::optional<Uncounted> unwoven_;          // set by Begin
  std::mutex names_lock_;
  NameSet woven_names_;  // names of classes, which may be the same for several loaders
  ClassDefinitions definitions_;
  std::mutex unseen_lock_;
  bool begun_ = false;          // methods count
  std::vector<jclass> unseen_;  // loaded before that, without a reported class file
  Counts counts_;
};

}  // namespace jprof::agent
