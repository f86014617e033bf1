// Reads the clock of all records and waits.
#pragma once

#include <time.h>

#include <cstdint>

namespace jprof {

// Returns CLOCK_MONOTONIC in nanoseconds.
inline int64_t MonotonicNanos() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace jprof
