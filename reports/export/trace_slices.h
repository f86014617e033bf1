// Converts a trace to slices: entries and exits with points in time, for viewers of time lines.
//
// The clock is that of the trace's metric: each thread's own time (CPU time, unless a thread had no
// clock), corrected as in log-gen, counted from the moment at which the thread's recording began.
// Times of one thread can be compared with each other; those of two threads only roughly, because
// time in which a thread did not run is left out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/tree/source.h"

namespace jprof::reports {

struct Slice {
  enum class Kind : uint8_t {
    kBegin,
    kEnd,  // of the thread's innermost open slice
    kGap,  // events are missing here; no slice is open
  };
  Kind kind = Kind::kBegin;
  uint32_t thread = 0;    // index into the reader's threads
  uint64_t ns = 0;        // since recording began
  uint32_t method = 0;    // of kBegin, a number unique for the name
  std::string_view name;  // of kBegin, as reports print it
  char type = '?';        // of kBegin, the letter
  uint64_t missing = 0;   // kGap
};

struct SliceTotals {
  uint64_t events = 0;
  uint64_t missing = 0;
  uint64_t unmatched = 0;  // exits whose entry is missing, without a slice
  uint64_t open = 0;       // slices without an exit, ended at the thread's last event
};

// Visits the slices of one thread in order; threads may be interleaved. `visit` returns false to
// stop. Fails if there is no trace, or if its first metric is no time.
Result<SliceTotals> VisitSlices(model::Source& source,
                                const std::function<bool(const Slice&)>& visit);

// Returns "slices are in each thread's own time ...", and what is missing.
std::vector<std::string> SliceNotes(const model::Source& source, const SliceTotals& totals);

}  // namespace jprof::reports
