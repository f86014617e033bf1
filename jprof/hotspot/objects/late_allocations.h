// The allocation probe of a VM that is already running. It is installed and removed while the
// program runs (compare jprof/hotspot/probe/late_probe.h):
//
// - The VM's own code tests the flag whenever it allocates, and compiled code calls the probe if
//   the flag was set when its compilation began, so Install sets it and discards all compiled code.
// - Up to JDK 23 the interpreter tests the flag, too; later ones allocate in the VM's code
//   meanwhile (interpreted_new.h).
// - Remove makes the functions do nothing, restores the rest, and discards the code again. The
//   jumps at the beginning of the functions remain, and a later recording uses them again.
#pragma once

#include <optional>

#include "common/result.h"
#include "jprof/hotspot/objects/allocation_probe.h"
#include "jprof/hotspot/objects/interpreted_new.h"
#include "jprof/hotspot/vm/compiled_code.h"

namespace jprof::hotspot {

class LateAllocations {
 public:
  // Fails if this VM lacks something that is required, or if it was started with the flag.
  // `interpreter_tests` is whether its interpreter tests the flag.
  static Result<LateAllocations> Find(const LibjvmImage& image, const VmStructs& structs,
                                      const AllocationProbe& probe, bool interpreter_tests);

  // Makes the VM report all objects that are allocated from now on, to functions that do nothing
  // yet: AllocationProbe::Count begins. After an error nothing has been changed. `jni`, here and
  // below, belongs to the calling Java thread, which must be in native code.
  Result<void> Install(const AllocationProbe& probe, void* jni) const;
  // Removes the probe. No thread runs a handler afterwards. Returns whether the compilations that
  // were running have ended; if not, their code calls functions that do nothing.
  Result<bool> Remove(const AllocationProbe& probe, void* jni) const;

 private:
  explicit LateAllocations(const CompiledCode& code) : code_(code) {}

  CompiledCode code_;
  std::optional<InterpretedNew> new_;
};

}  // namespace jprof::hotspot
