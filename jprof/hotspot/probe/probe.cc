#include "jprof/hotspot/probe/probe.h"

#include <cerrno>
#include <cstring>

#include "common/errno_text.h"
#include "jprof/hotspot/probe/handlers.h"
#include "jprof/hotspot/vm/code_patch.h"

namespace jprof::hotspot {
namespace {

// Makes C2 keep the calls of methods that it knows without inlining them, which it removes
// otherwise: chains of StringBuilder calls, and boxing whose result is not used. A VM without C2
// lacks these flags.
void KeepKnownCalls(const VmStructs& structs) {
  for (const char* name : {"OptimizeStringConcat", "EliminateAutoBox"}) {
    if (uint8_t* optimise = Vm::Flag(structs, name); optimise != nullptr) *optimise = 0;
  }
}

}  // namespace

Result<ProbeTargets> FindTargets(const LibjvmImage& image) {
  const Function entry = image.Symbol("_ZN13SharedRuntime19dtrace_method_entryE");
  ProbeTargets targets = {
      entry.begin, image.Symbol("_ZN13SharedRuntime18dtrace_method_exitE").begin, entry.bytes};
  if (targets.entry == 0) targets.entry = image.FunctionWithProbe("method__entry");
  if (targets.exit == 0) targets.exit = image.FunctionWithProbe("method__return");
  if (targets.entry == 0 || targets.exit == 0) {
    return Fail("{} has neither symbols nor USDT notes for its method probes", image.path());
  }
  const uint64_t distance =
      targets.entry > targets.exit ? targets.entry - targets.exit : targets.exit - targets.entry;
  if (distance < kJumpBytes) {
    return Fail("the method probes of {} were folded into one function", image.path());
  }
  return targets;
}

Result<void> InstallProbe(const VmStructs& structs, const Vm& vm, const ProbeTargets& targets,
                          engine::RecordingKind kind, Probing probing) {
  uint8_t* probes = Vm::Flag(structs, "DTraceMethodProbes");
  uint8_t* inlining = Vm::Flag(structs, "Inline");
  if (probes == nullptr || inlining == nullptr) {
    return Fail("this JVM has no flag {}", probes == nullptr ? "DTraceMethodProbes" : "Inline");
  }
  const WritableCode entry(targets.entry, kJumpBytes), exit(targets.exit, kJumpBytes);
  if (!entry || !exit) {
    return Fail("cannot write to libjvm.so's code: {}", ErrnoText());
  }
  const Handlers handlers = HandlersFor(kind, probing, vm.thread_marks());
  WriteJump(targets.entry, reinterpret_cast<uint64_t>(handlers.entry));
  WriteJump(targets.exit, reinterpret_cast<uint64_t>(handlers.exit));
  *probes = 1;
  if (!probing.focused) *inlining = 0;
  if (!probing.focused && !probing.intrinsics) KeepKnownCalls(structs);
  return {};
}

}  // namespace jprof::hotspot
