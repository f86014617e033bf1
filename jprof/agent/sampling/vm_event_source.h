// Declares a source of the VM's events for sampling. It feeds an EventSink (event_sink.h), or
// follows virtual threads. Each source has a JVMTI environment of its own, because an environment
// has one callback per event. SampledVm::Open lists the sources.
#pragma once

#include <jvmti.h>

#include "common/result.h"
#include "jprof/agent/vm/jvmti_env.h"

namespace jprof::agent {

class VmEventSource {
 public:
  VmEventSource() = default;
  VmEventSource(const VmEventSource&) = delete;
  VmEventSource& operator=(const VmEventSource&) = delete;
  // Requires that no callback is in progress.
  virtual ~VmEventSource() {
    if (jvmti_ != nullptr) jvmti_->DisposeEnvironment();
  }

  // Requests what the source needs, before anything is written. Fails if the VM does not support
  // it.
  virtual Result<void> Open(JavaVM* java) = 0;
  // Enables the events. Requires that Open has succeeded.
  virtual void Begin() = 0;
  // Disables the events. No callback begins from now on, but some may be in progress.
  void End() const {
    if (jvmti_ != nullptr) events_.Uninstall(jvmti_);
  }

 protected:
  jvmtiEnv* jvmti_ = nullptr;  // owned; null before it is made, and if this JVM does not support it
  JvmtiEvents events_;
};

}  // namespace jprof::agent
