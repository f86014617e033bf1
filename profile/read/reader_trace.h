// Decodes the trace of a profile. Events come in blocks; the blocks of one thread are in order.
// Threads are interleaved as in the file (trace.zst), or come one after another (trace, where a
// wrapping writer reuses blocks). Gaps are reported. Of a trace of `jprof trace --slow` only the
// blocks that were kept for slow calls are decoded.
#pragma once

#include <cstdint>
#include <functional>

#include "profile/read/reader.h"

namespace jprof::profile {

struct TraceEvent {
  uint32_t thread = 0;  // index into Reader::threads()
  MethodRef ref{};
  bool exit = false;
  int64_t delta = 0;     // of the first metric since the thread's previous event, raw
  uint64_t missing = 0;  // events of the thread that are missing right before this one
  int64_t skipped = 0;   // change of the metric over these events, raw; 0 if damaged
  uint64_t number = 0;   // of the thread's event, from 0
  // Time, by the raw clock, that the thread was not running before this event. It is known in the
  // watched calls of `jprof trace --slow` only, and in no delta.
  int64_t waited = 0;
};

// Fails if the profile has no trace. Adds no damage.
Result<void> CheckTrace(const Reader& reader);

// Visits every event until `visit` returns false. Truncated or damaged parts are added to the
// reader's damages and skipped. Fails if the profile has no trace.
Result<void> ReadTrace(Reader& reader, const std::function<bool(const TraceEvent&)>& visit);

}  // namespace jprof::profile
