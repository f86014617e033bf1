// Reads the clock of a trace of events, and who writes it, from its metadata. Pure, except
// ReadMetadata.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::events {

// What is missing is as here.
struct TraceMetadata {
  uint64_t frequency = 1'000'000'000;  // ticks per second
  int64_t seconds = 0;                 // Unix time at tick 0, and ticks more
  uint64_t ticks = 0;
  uint32_t process = 0;               // that writes the trace
  bool closed = false;                // no more records come
  std::vector<std::string> counters;  // what the environment names counter_0, counter_1, ...
};

TraceMetadata ParseMetadata(std::string_view text);
TraceMetadata ReadMetadata(const std::string& directory);

struct UnixTime {
  int64_t seconds = 0;
  uint32_t nanos = 0;
};

UnixTime TimeOf(const TraceMetadata& metadata, uint64_t ticks);

// Returns the ns from a Unix time, in ns, until the ticks.
int64_t NanosSince(const TraceMetadata& metadata, uint64_t ticks, uint64_t start_unix_ns);

}  // namespace jprof::events
