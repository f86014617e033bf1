// Reads the clock of all records and waits, and calendar time.
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

// Returns calendar time in nanoseconds since 1970, UTC.
inline uint64_t UnixNanos() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

}  // namespace jprof
