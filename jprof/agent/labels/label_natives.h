// Binds the native methods of jprof.label.Label, by which Java programs set labels, to a recording
// with a shadow stack. Woven code sets labels itself, and needs no calls of these methods.
#pragma once

#include <jvmti.h>

#include "jprof/engine/labels/labels.h"
#include "jprof/setup/plan.h"

namespace jprof::agent {

class LabelNatives {
 public:
  // `plan` must exist as long as the object.
  LabelNatives(JavaVM* java, const setup::Plan& plan, bool train);

  // Binds the classes that are loaded, and from now on those that are being loaded. Call this in
  // the live phase. Without memory, or if the VM refuses, labels have no effect, as without the
  // agent.
  void Begin(JNIEnv* jni);
  // Makes all of these classes do nothing.
  void End(JNIEnv* jni);

  // Returns whether labels are recorded by calls of Set.
  bool listens() const { return set_ != nullptr; }
  // Sets the label with this text in the method that runs. Null ends the method's label.
  void Set(JNIEnv* jni, jstring text) const;

 private:
  static void JNICALL OnClassPrepare(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass prepared);
  void Tell(JNIEnv* jni, jclass type, bool told) const;

  JavaVM* const java_;
  const engine::LabelFunction set_;  // null if the source of calls has no shadow stack
  jvmtiEnv* jvmti_ = nullptr;        // null before Begin and after End
};

}  // namespace jprof::agent
