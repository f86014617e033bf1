// Prints the report arc: the functions and the calls of an instruction trace, with exact numbers of
// instructions and calls.
#pragma once

#include <functional>
#include <string>

#include "model/itrace/arc_recording.h"
#include "model/itrace/run_counts.h"
#include "reports/print/options.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Prints the report. Fails if the format is not offered, if no thread or function matches the
// options, or if Capstone cannot read this machine's code.
Result<void> PrintArc(model::ArcRecording& arcs, const Options& options, Output& out);

// Prints the stacks of the trace with the instructions of each, for flame-graph tools.
void PrintArcStacks(const model::ArcRecording& arcs, const model::ArcTrace& trace, bool merged,
                    Output& out);

// Prints the instructions of the hottest functions.
Result<void> PrintArcListing(model::ArcRecording& arcs, const Options& options, Output& out);

// Calls `visit` with the listing of each function that `options` choose, the hottest first. Returns
// their number.
Result<size_t> ListArcFunctions(
    model::ArcRecording& arcs, const model::ArcTrace& trace, const model::RunCounts& counts,
    const Options& options,
    const std::function<void(uint32_t function, const std::string& text)>& visit);

}  // namespace jprof::reports
