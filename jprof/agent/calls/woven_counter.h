// Implements woven counting (docs/WOVEN.md): methods count themselves, by calls of
// java.lang.JprofCounter that the weaver inserts into classes when they are loaded or, if they are
// loaded already, by retransformation. Its parts:
//  - woven_classes.h: the VM's events, and which classes are woven and restored;
//  - retransformer.h: replaces loaded classes;
//  - woven_methods.h: which methods count;
//  - woven_virtual_threads.h: trees of their own for virtual threads;
//  - woven_natives.h: the native methods of JprofCounter;
//  - woven_statistics.h: what was woven and what was not;
//  - locks/locks.h: with LOCKS, what methods count where they take and release locks.
//
// Each thread has its own current node, which it gets at its first event, in a word of the VM's
// thread. No other thread writes there.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "common/result.h"
#include "jprof/agent/calls/call_source.h"
#include "jprof/agent/calls/woven_classes.h"
#include "jprof/agent/calls/woven_virtual_threads.h"
#include "jprof/agent/locks/locks.h"

namespace jprof::agent {

// Fails if this VM, its Java version or this build of jprof lacks something that woven counting
// requires. The error states what is missing.
Result<void> CheckWovenCounter(int java_version);

class WovenCounter final : public CallSource {
 public:
  // Fails (wrong use) if this VM or its Java version lacks something that woven counting requires.
  // Fails, too, if the VM writes an archive of its classes.
  static Result<std::unique_ptr<CallSource>> Open(const CallContext& context);

  engine::MethodSource& methods() override { return classes_.methods(); }
  HotspotVm* vm() override { return &vm_; }
  bool BeginsAmongThreads() const override { return true; }

  Result<void> AddTo(JvmtiEvents& events) override;
  // Defines the counter class and weaves all classes that are loaded, and from then on those that
  // are being loaded. Then methods begin to count. A class that was not woven is named in the
  // profile.
  Result<void> Begin(JNIEnv* jni) override;
  void Complete() override;
  // Classes that are loaded from now on are left as they are, and the original code of the others
  // is restored. Methods that are running finish as they are, without counting.
  Result<void> End(JNIEnv* jni) override;

  // The following functions serve the native methods of JprofCounter, which find this object
  // through InUse while methods count.
  engine::Session& session() const { return context_.session; }
  RecordedThreads& threads() const { return context_.threads; }
  // Returns the offset of the word of the current node in the VM's thread.
  uint64_t current_at() const { return current_at_; }
  bool IgnoreCarriers(JNIEnv* jni) { return virtual_threads_.IgnoreCarriers(jni); }
  // Returns the id of a label, negative if it is the one for all that are too many, or 0 if labels
  // are not recorded.
  jint LabelId(JNIEnv* jni, jstring text);
  // Prepares for virtual threads, or ends the counting with a message if the VM refuses.
  void ExpectVirtualThreads(JNIEnv* jni);

 private:
  WovenCounter(const CallContext& context, HotspotVm vm, uint64_t current_at);

  static void JNICALL OnClassFile(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject loader,
                                  const char* name, jobject domain, jint bytes,
                                  const unsigned char* data, jint* new_bytes,
                                  unsigned char** new_data);
  static void JNICALL OnClassLoad(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass loaded);

  Result<void> OpenLocks();
  Result<void> DefineClass(JNIEnv* jni);
  Result<void> DefineLocks(JNIEnv* jni) const;
  Result<void> BeginLocks(JNIEnv* jni);
  Result<void> BeginEvents();
  void SetRegion(JNIEnv* jni, uint64_t begin) const;

  HotspotVm vm_;
  const uint64_t current_at_;
  WovenClasses classes_;
  WovenVirtualThreads virtual_threads_;
  std::unique_ptr<Locks> locks_;  // null unless locks are counted
  jclass counter_ = nullptr;      // JprofCounter
  std::atomic<bool> told_of_labels_ = false;
};

}  // namespace jprof::agent
