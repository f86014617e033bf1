// The time stamp counter of this architecture: one instruction, unserialised on purpose (a fence
// would serialise the program's own work; what leaks across is part of what calibration learns).
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace jprof::ptm {

inline int64_t ReadTsc() {
#if defined(__x86_64__)
  return static_cast<int64_t>(__rdtsc());
#elif defined(__aarch64__)
  int64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
#error "no time stamp counter for this architecture"
#endif
}

}  // namespace jprof::ptm
