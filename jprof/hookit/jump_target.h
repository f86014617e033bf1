// Finds the stack pointer that longjmp sets.
#pragma once

#include <setjmp.h>

#include <cstdint>

namespace jprof::hookit {

// Returns the stack pointer of a jump target, or 0 if it is not known.
uint64_t StackPointerOf(const __jmp_buf_tag& target);

}  // namespace jprof::hookit
