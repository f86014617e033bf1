// Prints when threads ran, and what they waited for (docs/TIMELINE.md).
#pragma once

#include "model/events/recorded_events.h"
#include "reports/print/options.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Text has tables of the program's threads (with options.all, of all) and of what they waited for;
// CSV and JSON have each stretch.
Result<void> PrintTimeline(model::RecordedEvents& events, const Options& options, Output& out);

// Prints how busy each processor was, in equal intervals.
Result<void> PrintUtilisation(model::RecordedEvents& events, const Options& options, Output& out);

// Prints what delayed the end of the program's main thread (model/events/critical_path.h). Fails if
// no thread of the program has run.
Result<void> PrintCriticalPath(model::RecordedEvents& events, const Options& options, Output& out);

}  // namespace jprof::reports
