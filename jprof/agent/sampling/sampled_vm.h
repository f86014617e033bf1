// Changes in the VM what sampling requires: debug information in compiled code, and the events of
// triggers and of virtual threads, which have JVMTI environments of their own.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <optional>

#include "common/result.h"
#include "jprof/agent/sampling/triggers.h"
#include "jprof/agent/sampling/virtual_rows.h"
#include "jprof/agent/vm/hotspot_vm.h"
#include "jprof/setup/plan.h"
#include "options/agent_options.h"

namespace jprof::agent {

class SampledVm {
 public:
  // All arguments must exist as long as the object.
  SampledVm(const options::AgentOptions& options, const setup::Plan& plan, HotspotVm& hotspot,
            VirtualRows& rows)
      : options_(options), plan_(plan), hotspot_(hotspot), rows_(rows) {}

  // Requests what the triggers need. Their events go to `sink`. Fails if the VM does not support
  // them.
  Result<void> Open(JavaVM* java, EventSink& sink);
  // Sets the debug information and enables the events.
  void Begin();
  // Disables the events. Callbacks may still be in progress.
  void End();
  // Leaves the VM as it was. Requires that no callback is in progress.
  void Close();

 private:
  void ReportVirtualThreads();
  static void JNICALL OnVirtualThreadStart(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  static void JNICALL OnVirtualThreadEnd(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);

  const options::AgentOptions& options_;
  const setup::Plan& plan_;
  HotspotVm& hotspot_;
  VirtualRows& rows_;
  JavaVM* java_ = nullptr;
  std::optional<VmTriggers> triggers_;
  // In a separate environment, so that the other events ignore virtual threads. Null if this JVM
  // has none (before JDK 21).
  jvmtiEnv* virtual_threads_ = nullptr;
  JvmtiEvents virtual_thread_events_;
  uint8_t* debug_info_ = nullptr;  // the flag DebugNonSafepoints, if Begin has set it
  uint8_t debug_info_before_ = 0;
};

}  // namespace jprof::agent
