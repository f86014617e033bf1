// Determines the parts of a recording from the options alone, before anything is opened. Pure.
#pragma once

#include "common/result.h"
#include "jprof/engine/recording.h"
#include "jprof/engine/session.h"
#include "options/agent_options.h"

namespace jprof::agent {

// The source of the call tree.
enum class Source {
  kNone,     // TPROF alone: no tree
  kSamples,  // SCS: sampled stacks, no probe
  kProbe,    // CALLFLOW, CALLTREE, TRACE: method entries and exits
  kWoven,    // CALLTREE with COUNTER=woven: the methods count
};

struct Plan {
  Source source = Source::kProbe;
  engine::RecordingKind kind = engine::RecordingKind::kTimeTree;  // of Source::kProbe
  engine::SessionOptions session;  // all but files.directory and method_filter

  // The parts.
  bool jit_log = false;
  bool sampling = false;              // with the control channel of `jprof ctl`
  bool vm_triggers = false;           // samples at events of the VM
  bool virtual_thread_names = false;  // samples of virtual threads go to rows by name
  bool focus = false;

  // The probes that may be used.
  bool hotspot_probe = true;
  bool jvmti_probe = true;

  bool has_session() const { return source != Source::kNone; }
};

// Checks whether the recording can begin in a running JVM of that Java version. Error (wrong use):
// why not, and what is possible.
Result<void> CheckAttach(const AgentOptions& options, int java_version);

// Error (wrong use): an unknown metric, more than 8 metrics, or counters in a trace.
Result<Plan> MakePlan(const AgentOptions& options);

}  // namespace jprof::agent
