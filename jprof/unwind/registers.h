// The registers that a stack walk starts from and updates.
#pragma once

#include <cstdint>

namespace jprof::unwind {

struct Registers {
  uint64_t pc = 0;
  uint64_t sp = 0;
  uint64_t fp = 0;    // rbp; x29
  uint64_t link = 0;  // AArch64: x30, of the interrupted frame only; x86-64: 0
  // pc is the next instruction, not a return address: set by a step out of a signal frame, cleared
  // by any other step.
  bool interrupted = false;
};

// The registers at the point of interruption; `ucontext` is the third argument of the signal
// handler.
Registers OfSignal(const void* ucontext);

}  // namespace jprof::unwind
