// Reads the clock of a trace of events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/result.h"

namespace jprof::events {

struct TraceClock {
  uint64_t frequency = 0;             // ticks per second
  uint64_t offset_seconds = 0;        // the Unix time at tick 0: seconds, and
  uint64_t offset_ticks = 0;          // ticks
  std::vector<std::string> counters;  // what the environment names counter_0 and so on

  // Returns the Unix time of a tick, in ns.
  uint64_t UnixNanos(uint64_t ticks) const {
    constexpr uint64_t kNanos = 1'000'000'000;
    const auto sum = static_cast<unsigned __int128>(ticks) + offset_ticks;
    return offset_seconds * kNanos + static_cast<uint64_t>(sum * kNanos / frequency);
  }
};

// Reads the metadata of the trace in a directory. Fails if it has none, or none with a clock.
Result<TraceClock> ReadClock(const std::string& directory);

}  // namespace jprof::events
