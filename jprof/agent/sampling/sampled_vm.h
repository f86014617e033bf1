// Changes in the VM what sampling requires: debug information in compiled code, and the events of
// triggers and of virtual threads (vm_event_source.h).
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "common/result.h"
#include "jprof/agent/sampling/virtual_rows.h"
#include "jprof/agent/sampling/vm_event_source.h"
#include "jprof/agent/vm/event_sink.h"
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
  // them. A new source of events is a class of VmEventSource and a line in this function.
  Result<void> Open(JavaVM* java, EventSink& sink);
  // Sets the debug information and enables the events.
  void Begin();
  // Disables the events. Callbacks may still be in progress.
  void End();
  // Leaves the VM as it was. Requires that no callback is in progress.
  void Close();

 private:
  const options::AgentOptions& options_;
  const setup::Plan& plan_;
  HotspotVm& hotspot_;
  VirtualRows& rows_;
  std::vector<std::unique_ptr<VmEventSource>> sources_;
  uint8_t* debug_info_ = nullptr;  // the flag DebugNonSafepoints, if Begin has set it
  uint8_t debug_info_before_ = 0;
};

}  // namespace jprof::agent
