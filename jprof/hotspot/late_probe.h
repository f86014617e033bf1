// The probe of a VM that is already running: installed and removed while the program runs.
//
// Up to JDK 23 the interpreter and the wrappers of native methods test DTraceMethodProbes at run
// time, and compiled code calls the probes if the flag was set when its compilation began. So:
//
// - Installing: jumps to handlers that do nothing are written while the flag is 0, when nothing
// calls
//   the functions. Then the flags are set, inlining first. A compilation that began before is
//   discarded by the VM, which compares the flag that it began with. All compiled code is
//   deoptimized. Only then the jumps lead to the real handlers: compiled code without probes calls
//   interpreted methods, so that entries would be missing.
// - Removing: the flags are restored, and the jumps lead to handlers that do nothing. Once the
//   compilations that began with the flag have ended, all compiled code is deoptimized. That is a
//   handshake with all threads, so that none is inside the former handlers afterwards. The jumps
//   remain, and a later recording uses them again.
//
// The VM counts how often compiled code of a method is discarded, and stops to compile methods
// above a limit. The limit is raised by the number of deoptimizations.
#pragma once

#include <cstdint>
#include <vector>

#include "common/result.h"
#include "jprof/hotspot/compilations.h"
#include "jprof/hotspot/probe.h"

namespace jprof::hotspot {

class LateProbe {
 public:
  // Error: what this VM lacks, or that its flag is already set. Nothing is changed. `jni`, here and
  // below: of the calling Java thread, which must be in native code.
  static Result<LateProbe> Find(const LibjvmImage& image, const VmStructs& structs,
                                const ProbeTargets& targets);

  // From now on all methods that are entered call the handlers. Nothing is changed if an error is
  // returned.
  Result<void> Install(const Vm& vm, engine::RecordingKind kind, Probing probing, void* jni);

  // Waits for the running compilations, at most 10 s, and returns whether these have ended; if not,
  // their code calls handlers that do nothing. After it has returned, no thread runs a handler. If
  // it fails, nothing is changed.
  Result<bool> Remove(void* jni);

 private:
  using WhiteBox = void (*)(void* jni, void* object);
  struct SavedFlag {
    uint8_t* flag;
    uint8_t before;
  };

  explicit LateProbe(const Compilations& compilations) : compilations_(compilations) {}
  void Set(const char* name, uint8_t value);
  void DeoptimizeAll(void* jni);

  ProbeTargets targets_;
  Compilations compilations_;
  WhiteBox force_safepoint_ = nullptr, deoptimize_all_ = nullptr;
  VmStructs structs_ = VmStructs({});
  uint8_t* flag_ = nullptr;
  std::vector<SavedFlag> saved_;
};

}  // namespace jprof::hotspot
