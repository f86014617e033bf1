// Binds the native methods of the package jprof.label, by which Java programs set labels
// (jprof.label.Label), and start, stop and mark the recording (jprof.label.Recording). Woven code
// sets labels itself, and needs no calls of these methods.
#pragma once

#include <jvmti.h>

#include <functional>
#include <string_view>

#include "jprof/engine/labels/labels.h"
#include "jprof/setup/plan.h"

namespace jprof::agent {

// What starts and stops the recording. Without functions nothing does.
struct RecordingCommands {
  std::function<void()> start, stop;
};

class LabelNatives {
 public:
  // `plan` must exist as long as the object.
  LabelNatives(JavaVM* java, const setup::Plan& plan, bool train);

  // Binds the classes that are loaded, and from now on those that are being loaded, and begins to
  // execute the commands that programs give, also those in C. Call this in the live phase. Without
  // memory, or if the VM refuses, what they call has no effect, as without the agent.
  void Begin(JNIEnv* jni, RecordingCommands commands);
  // Makes all of these classes do nothing.
  void End(JNIEnv* jni);

  // Returns whether labels are recorded by calls of Set.
  bool listens() const { return set_ != nullptr; }
  // Sets the label with this text in the method that runs. Null ends the method's label.
  void Set(JNIEnv* jni, jstring text) const;
  // Execute what a program commands.
  void Start() const;
  void Stop() const;
  void Mark(std::string_view text) const;
  void Mark(JNIEnv* jni, jstring text) const;

 private:
  static void JNICALL OnClassPrepare(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass prepared);

  JavaVM* const java_;
  const engine::LabelFunction set_;   // null if the source of calls has no shadow stack
  const engine::LabelFunction mark_;  // the same
  RecordingCommands commands_;
  jvmtiEnv* jvmti_ = nullptr;  // null before Begin and after End
};

}  // namespace jprof::agent
