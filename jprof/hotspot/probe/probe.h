// Installs the probe: makes HotSpot call jprof's handlers at every method entry and exit.
//
// HotSpot's interpreter, C1, C2 and native wrappers emit a leaf call to
// SharedRuntime::dtrace_method_entry and _exit when the flag DTraceMethodProbes is set. Both
// functions are replaced by a jump to the handlers, and the flags are written in the VM's memory.
// Inline is switched off, because C1 would otherwise lose exits when an exception passes through
// inlined methods, and so are two optimisations by which C2 removes calls. All of it must happen in
// Agent_OnLoad, before the interpreter is generated.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "jprof/engine/recording.h"
#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/hotspot/vm/vm.h"

namespace jprof::hotspot {

struct ProbeTargets {
  uint64_t entry = 0;
  uint64_t exit = 0;
  uint64_t entry_bytes = 0;  // size of the function at `entry`, or 0 if unknown
};

// Finds the two functions by symbol or, if that fails, by their USDT probes. An error states what
// is missing.
Result<ProbeTargets> FindTargets(const LibjvmImage& image);

// Selects how methods are recorded.
struct Probing {
  // Records for calibration are also written. This applies to kinds with time or counters.
  bool train = false;
  // A CompileFocus decides what is compiled with probes, inlining stays on, and most interpreted
  // methods are not recorded.
  bool focused = false;
  // The session has gates, or begins paused: what is outside leaves before anything is read.
  bool gated = false;
  // C2 may use intrinsics in place of calls, so that these are not recorded.
  bool intrinsics = false;
  // Functions of C and C++ are recorded too, also those of signal handlers.
  bool beside_hooks = false;
};

// The flags of optimisations that lose events. Those of C2 do not exist in a VM without it. They
// are cleared before the probe's own flag is set.
inline constexpr const char* kFlagsToClear[] = {"Inline", "OptimizeStringConcat",
                                                "EliminateAutoBox"};

// Sets the flags and writes the jumps. After an error nothing has been changed.
Result<void> InstallProbe(const VmStructs& structs, const Vm& vm, const ProbeTargets& targets,
                          engine::RecordingKind kind, Probing probing);

}  // namespace jprof::hotspot
