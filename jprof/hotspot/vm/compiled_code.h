// Discards the compiled code of a running VM, so that methods are compiled anew with the flags as
// they are then.
//
// The VM counts how often compiled code of a method is discarded, and stops compiling methods above
// a limit. The limit is raised by the number of times that this is done.
#pragma once

#include <chrono>

#include "common/result.h"
#include "jprof/hotspot/vm/compilations.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

class CompiledCode {
 public:
  // Fails if this VM lacks what is required.
  static Result<CompiledCode> Find(const LibjvmImage& image, const VmStructs& structs);

  // Deoptimises all compiled code. It is a handshake with all threads: none is inside a function
  // that it has called before. `jni` belongs to the calling Java thread, which must be in native
  // code. A compilation that compared a flag before it changed has installed its code before.
  void Discard(void* jni) const;

  // Waits for the compilations that are running, at most 10 s. Returns whether they have ended.
  bool AwaitCompilations() const;

 private:
  using WhiteBox = void (*)(void* jni, void* object);

  CompiledCode(const Compilations& compilations, const VmStructs& structs)
      : compilations_(compilations), structs_(structs) {}

  Compilations compilations_;
  VmStructs structs_;
  WhiteBox force_safepoint_ = nullptr, deoptimize_all_ = nullptr;
};

}  // namespace jprof::hotspot
