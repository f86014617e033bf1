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

// All loads that stand before have been done; nothing that stands after has begun.
inline void Fence() {
#if defined(__x86_64__)
  _mm_lfence();
#else
  asm volatile("dsb ishld; isb" ::: "memory");
#endif
}

// Around a stretch of code: what it takes by itself, its cache misses included, with nothing of
// what was done before and nothing of what comes after. Two of these with nothing between them see
// MeasureBracketTicks().
inline int64_t BracketBegin() {
  Fence();
  const int64_t ticks = ReadTsc();
  Fence();
  return ticks;
}
inline int64_t BracketEnd() {
  Fence();
  return ReadTsc();
}

}  // namespace jprof::ptm
