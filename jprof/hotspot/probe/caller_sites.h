// Finds the bytecode at which a method that calls the entry probe was called: the caller's frame is
// read from the stack. It can be used in a probe: it takes no lock and allocates nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "common/result.h"
#include "jprof/engine/event.h"
#include "jprof/hotspot/vm/vm.h"
#include "jprof/hotspot/walk/stack_walker.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::hotspot {

class CallerSites {
 public:
  // Fails if this VM does not export what a stack walk needs.
  static Result<std::unique_ptr<CallerSites>> Open(const VmStructs& structs);

  // Returns Sites::KeyOf the caller and its bytecode, or 0 if the caller is no Java method or is
  // not known. `fp` is the frame pointer's value in the entered method.
  uint64_t Of(const engine::Event& entry, uint64_t fp) const;

 private:
  CallerSites() = default;

  unwind::Unwinder unwinder_;  // is never asked: the walk ends before native frames
  std::unique_ptr<StackWalker> walker_;
};

}  // namespace jprof::hotspot
