// The trace of a profile, decoded. Events come per block; blocks of one thread in their order,
// threads as the blocks stand (trace.zst) or one after another (trace, whose blocks a wrapping
// writer reuses). Gaps are told, not hidden.
#pragma once

#include <cstdint>
#include <functional>

#include "profile/reader.h"

namespace jprof::profile {

struct TraceEvent {
  uint32_t thread = 0;  // index into Reader::threads()
  uint32_t word = 0;    // as in Node
  bool exit = false;
  int64_t delta = 0;     // of the first metric since the thread's event before, raw
  uint64_t missing = 0;  // events of the thread that are missing right before this one
};

// Visits every event; `visit` answers false to stop. Error: the profile has no trace. What is cut
// off or damaged is added to the reader's damages and skipped.
Result<void> ReadTrace(Reader& reader, const std::function<bool(const TraceEvent&)>& visit);

}  // namespace jprof::profile
