// Makes the data of the pages of what jprof records. They fail if there is nothing to show.
#pragma once

#include "model/open/open.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// Returns the call tree of a counted, timed or sampled profile.
Result<ViewData> ViewOf(model::Source& source);
// Returns when each call of a trace of `jprof trace` was, and the tree of all of them. Also fails
// if the trace has no times. ViewOf calls it for a trace.
Result<ViewData> ViewOfTrace(model::Source& source);
// Returns exact calls and production times.
Result<ViewData> ViewOf(model::Combined& combined);
// Returns process, thread, module, symbol, line; the hottest symbols with their instructions.
Result<ViewData> ViewOf(model::Recording& recording);
// Returns the tree of a trace's calls with exact numbers of calls and instructions.
Result<ViewData> ViewOf(model::ArcRecording& arcs);
// Returns the laws by which calls and times grow with the size of the input.
Result<ViewData> ViewOf(model::Scale& scale);
// Returns when threads ran and waited, of a recording without a counted program.
Result<ViewData> ViewOf(model::EventRecording& recording);

}  // namespace jprof::reports
