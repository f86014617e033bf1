// Makes the timeline of a trace of `jprof trace`: entries and exits with points in time.
//
// The clock is that of the trace's metric: each thread's own time (CPU time, unless a thread had no
// clock), corrected as in log-gen, counted from the moment at which the thread's recording began.
// Times of one thread can be compared with each other; those of two threads only roughly, because
// time in which a thread did not run is left out. Where events are missing, open slices end and an
// instant states how many are missing.
#pragma once

#include <memory>

#include "model/timeline/timeline.h"
#include "model/tree/source.h"

namespace jprof::model {

// Returns the timeline, which refers to the source. Fails if the profile has no trace or if the
// trace's first metric is no time.
Result<std::unique_ptr<Timeline>> OpenTimeline(Source& source);

}  // namespace jprof::model
