// Prints the HTML view: one self-contained page with the contents of the reports. The page
// itself is built from the TypeScript in this folder; docs/VIEW.md describes it and the
// format of its data.
#pragma once

#include "reports/combined/combined.h"
#include "reports/itrace/arc_recording.h"
#include "reports/print/output.h"
#include "reports/ticks/recording.h"
#include "reports/tree/source.h"

namespace jprof::reports {

// Prints the call tree of a counted, timed or sampled profile.
Result<void> PrintView(Source& source, Output& out);

// Prints exact calls and production times.
Result<void> PrintView(Combined& combined, Output& out);

// Prints two profiles, context by context. Fails if CompareTwo does.
Result<void> PrintView(Source& before, Source& after, Output& out);

// Prints a recording of tprof: process, thread, module, symbol, line; the hottest symbols with
// their instructions. `title` is that of the page.
Result<void> PrintView(Recording& recording, std::string_view title, Output& out);

// Prints a trace of itrace: the tree of its calls with exact numbers of calls and instructions.
Result<void> PrintView(ArcRecording& arcs, Output& out);

}  // namespace jprof::reports
