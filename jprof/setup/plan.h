// Determines the parts of a recording from the options alone, before anything is opened.
#pragma once

#include "common/result.h"
#include "jprof/engine/recording.h"
#include "jprof/engine/session.h"
#include "options/agent_options.h"

namespace jprof::setup {

// Identifies what the call tree is made from.
enum class Source {
  kNone,     // TPROF alone has no tree
  kSamples,  // SCS uses sampled stacks, no probe
  kProbe,    // CALLFLOW, CALLTREE, OBJECTS and TRACE use method entries and exits
  kWoven,    // LOCKS, and CALLTREE and OBJECTS with COUNTER=woven: the methods count
};

struct Plan {
  Source source = Source::kProbe;
  engine::RecordingKind kind = engine::RecordingKind::kTimeTree;  // for Source::kProbe
  engine::SessionOptions session;  // all but files.directory and method_filter

  // The parts of the recording.
  bool jit_log = false;
  bool events = false;                // what the JVM does over time is written to a trace
  bool objects = false;               // allocated objects are counted
  bool sampling = false;              // with the control channel of `jprof ctl`
  bool vm_triggers = false;           // samples at events of the VM
  bool virtual_thread_names = false;  // samples of virtual threads go to rows by name
  bool debug_info = false;            // compiled code is described for samples
  bool locks = false;                 // woven methods also count locks
  bool allocations = false;           // and the objects that their bytecode asks for
  bool functions = false;             // hooks may record functions of C and C++ beside the methods

  // The probes that may be used.
  bool hotspot_probe = true;
  bool jvmti_probe = true;

  bool has_session() const { return source != Source::kNone; }
};

// Checks whether the recording can begin in a running JVM of that Java version. Fails (wrong use)
// if not; the error states the reason and what is possible.
Result<void> CheckAttach(const options::AgentOptions& options, int java_version);

// Returns the plan. Fails (wrong use) if there is an unknown metric, more than 8 metrics, or
// counters in a trace. Without a VM locks are those of native code.
Result<Plan> MakePlan(const options::AgentOptions& options, bool has_vm = true);

}  // namespace jprof::setup
