// Prints the report memory: the references to memory of an instruction trace, by function and by
// what the memory is, and how many would miss in a cache or TLB of each size.
#pragma once

#include "model/itrace/arc_recording.h"
#include "reports/print/options.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Fails if the trace has no references, if no thread or function matches the options, or if sites
// are requested (Options::by) that the trace does not know.
Result<void> PrintMemory(model::ArcRecording& arcs, const Options& options, Output& out);

}  // namespace jprof::reports
