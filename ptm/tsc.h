// Reads the time stamp counter of this architecture with one instruction, deliberately
// unserialised. A fence would serialise the program's own work; calibration accounts for
// the overlap.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86gprintrin.h>
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

// Waits until all preceding loads have completed. No following instruction has begun by then.
inline void Fence() {
#if defined(__x86_64__)
  asm volatile("lfence" ::: "memory");  // the intrinsic requires vector registers
#else
  asm volatile("dsb ishld; isb" ::: "memory");
#endif
}

// Both enclose a piece of code and measure its own time, including its cache misses, and nothing of
// the code before or after it. With nothing in between they measure MeasureTimerOverhead().
inline int64_t TimedCodeBegin() {
  Fence();
  const int64_t ticks = ReadTsc();
  Fence();
  return ticks;
}
inline int64_t TimedCodeEnd() {
  Fence();
  return ReadTsc();
}

}  // namespace jprof::ptm
