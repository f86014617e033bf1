// Compiles methods in focus with probes, and all others as without a profiler.
//
// HotSpot's compilers read DTraceMethodProbes once per compilation. Three calls inside libjvm.so
// are redirected to this class:
//
//   CompileBroker::invoke_compiler_on_method -> ciEnv::cache_dtrace_flags
//       sets or clears the flag for this method
//   DirectiveSet::should_not_inline -> CompilerOracle::should_not_inline
//       a method in focus is never inlined into another, nor anything into it (C1 would lose exits
//       by exceptions; C2 inlines nothing where there are probes)
//   ciEnv::register_method -> ciEnv::jvmti_state_changed
//       the last call before a compilation without probes would be discarded because the flag is
//       set
//
// If intrinsics are kept, C2 compiles methods in focus normally, except for the probes of the
// method itself. Two more calls let its parser see the flag only where it emits those:
//
//   ParseGenerator::generate -> Parse::Parse
//   Parse::do_call -> Compile::call_generator
//
// Without a focus (KEEP_INTRINSICS alone) every method is in it: all have probes, none is inlined,
// and C2 uses intrinsics.
//
// The flag stays set for the interpreter and the wrappers of native methods: there the handlers
// ignore methods that are not in focus.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/spin_lock.h"
#include "jprof/hotspot/probe/probe.h"
#include "jprof/hotspot/vm/code_patch.h"
#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/hotspot/vm/vm.h"
#include "profile/files/layout.h"

namespace jprof::hotspot {

class CompileFocus {
 public:
  // Returns whether a method is in focus. It is called on compiler threads and in probes, and must
  // not block or allocate.
  using Predicate = std::function<bool(std::string_view class_name, std::string_view name)>;

  // Finds everything required, and tests what can be tested without changes. Fails if this build of
  // the VM lacks something; the error states what.
  static Result<CompileFocus*> Find(const LibjvmImage& image, const VmStructs& structs);

  // Redirects all calls or, with an error, none. If `in_focus` is empty, all methods are in focus.
  // `targets` have been replaced by the probe; the remaining code of the first one provides space
  // for jumps. Counts are added to `header`. From then on the object exists as long as the process.
  Result<void> Install(const ProbeTargets& targets, Vm* vm, Predicate in_focus,
                       bool keep_intrinsics, profile::ControlHeader* header);

 private:
  // Receive the redirected calls.
  static void OnCacheFlags(char* env);
  static bool OnStateChanged(char* env);
  static bool OnShouldNotInline(const uint64_t* method_handle);
  static void OnParse(void* parse, void* caller, const void* method, float expected_uses);
  static void* OnCallGenerator(void* compile, void* callee, int vtable_index, bool dispatches,
                               void* caller, bool allow_inline, float factor, void* receiver,
                               bool allow_intrinsics);

  bool FindProbesByte(uint8_t* flag, uint64_t env_bytes);
  bool InFocus(uint64_t method);
  bool Decide(uint64_t task);
  void Count(const engine::MethodText& text, uint32_t* counter);

  static constexpr int kCalls = 5, kAlways = 3;  // the others need intrinsics to be kept
  static constexpr uint32_t kSeenSlots = 1 << 17;
  struct Call {
    std::vector<uint64_t> sites;
    uint64_t callee = 0;
    uint64_t hook = 0;
  };
  Call calls_[kCalls];
  int64_t task_ = -1, method_ = -1, level_ = -1;  // ciEnv -> CompileTask -> Method
  bool keep_intrinsics_ = false;
  int64_t probes_byte_ = -1;  // offset in a ciEnv
  Vm* vm_ = nullptr;
  Predicate predicate_;
  profile::ControlHeader* header_ = nullptr;
  SpinLock lock_;
  uint64_t* seen_ = nullptr;  // hashes of the methods that were counted
};

}  // namespace jprof::hotspot
