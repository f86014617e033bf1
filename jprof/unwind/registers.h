// Defines the registers that a stack walk starts from and updates.
#pragma once

#include <cstdint>

namespace jprof::unwind {

struct Registers {
  uint64_t pc = 0;
  uint64_t sp = 0;
  uint64_t fp = 0;    // rbp or x29
  uint64_t link = 0;  // x30 of the interrupted frame on AArch64, else 0
  // Is true if pc is the next instruction, not a return address. A step out of a signal frame sets
  // it, and any other step clears it.
  bool interrupted = false;
};

// Returns the registers at the point of interruption. `ucontext` is the third argument of the
// signal handler.
Registers OfSignal(const void* ucontext);

}  // namespace jprof::unwind
