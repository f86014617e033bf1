// Checks that compiled code calls the probe. C1 and C2 of the tested JDKs emit these calls; this
// class finds code of other compilers that does not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/result.h"
#include "jprof/hotspot/probe/probe.h"
#include "jprof/hotspot/vm/code_cache.h"

namespace jprof::hotspot {

// Returns whether the code calls or loads the address of one of the two functions. Always returns
// true on processors other than x86-64, whose instructions it does not read.
bool MentionsProbe(const uint8_t* code, size_t bytes, const ProbeTargets& targets);

class CompiledProbe {
 public:
  // Fails if this VM does not export the fields.
  static Result<CompiledProbe> Open(const VmStructs& structs, const ProbeTargets& targets);

  // Returns whether a method that was compiled to the code at `code` is counted. This includes code
  // that begins in the middle of a method, in a loop that was running, and need not call the probe.
  // Requires that the VM keeps the code during the call.
  bool Counts(const void* code, size_t bytes) const;

 private:
  CompiledProbe(const CodeCache& cache, int64_t entry_bci, const ProbeTargets& targets)
      : cache_(cache), entry_bci_(entry_bci), targets_(targets) {}

  CodeCache cache_;
  int64_t entry_bci_;  // offset of the field in an nmethod
  ProbeTargets targets_;
};

}  // namespace jprof::hotspot
