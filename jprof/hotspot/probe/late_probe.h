// The probe of a VM that is already running. It is installed and removed while the program runs.
//
// Up to JDK 23 the interpreter and the wrappers of native methods test DTraceMethodProbes at run
// time, and compiled code calls the probes if the flag was set when its compilation began. So:
//
// - Install writes jumps to handlers that do nothing while the flag is 0, when nothing calls the
//   functions. Then it sets the flags, inlining first. The VM discards a compilation that began
//   before, because it compares the flag that it began with. All compiled code is deoptimized. Only
//   then the jumps lead to the real handlers: compiled code without probes calls interpreted
//   methods, so that entries would be missing.
// - Remove restores the flags and makes the jumps lead to handlers that do nothing. Once the
//   compilations that began with the flag have ended, all compiled code is deoptimized. That is a
//   handshake with all threads, so that none is inside the previous handlers afterwards. The jumps
//   remain, and a later recording uses them again.
#pragma once

#include <cstdint>
#include <vector>

#include "common/result.h"
#include "jprof/hotspot/probe/probe.h"
#include "jprof/hotspot/vm/compiled_code.h"

namespace jprof::hotspot {

class LateProbe {
 public:
  // Finds what the probe requires, without changing anything. Fails if this VM lacks something, or
  // if its flag is already set. `jni`, here and below, belongs to the calling Java thread, which
  // must be in native code.
  static Result<LateProbe> Find(const LibjvmImage& image, const VmStructs& structs,
                                const ProbeTargets& targets);

  // Makes all methods that are entered from now on call the handlers. After an error nothing has
  // been changed.
  Result<void> Install(const Vm& vm, engine::RecordingKind kind, Probing probing, void* jni);

  // Removes the probe. Waits for the running compilations, at most 10 s, and returns whether these
  // have ended; if not, their code calls handlers that do nothing. After it has returned, no thread
  // runs a handler. After an error nothing has been changed.
  Result<bool> Remove(void* jni);

 private:
  struct SavedFlag {
    uint8_t* flag;
    uint8_t before;
  };

  explicit LateProbe(const CompiledCode& code) : code_(code) {}
  void Set(const char* name, uint8_t value);

  ProbeTargets targets_;
  CompiledCode code_;
  VmStructs structs_ = VmStructs({});
  uint8_t* flag_ = nullptr;
  std::vector<SavedFlag> saved_;
};

}  // namespace jprof::hotspot
