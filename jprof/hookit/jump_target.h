// The stack pointer that longjmp sets.
#pragma once

#include <setjmp.h>

#include <cstdint>

namespace jprof::hookit {

// 0: not known.
uint64_t StackPointerOf(const __jmp_buf_tag& target);

}  // namespace jprof::hookit
