// Makes the contexts of an instruction trace, with exact calls and instructions.
#pragma once

#include "model/itrace/arc_recording.h"
#include "model/tree/context_tree.h"

namespace jprof::model {

// Uses `merged` and `metric` of the options. Fails if a trace has no metric of that name.
Result<ContextTree> LoadContexts(ArcRecording& arcs, const ForestOptions& options);

// Describes the run for exports, with NotesOf.
RunDescription DescribeRun(const ArcRecording& arcs, const ArcTrace& trace);

}  // namespace jprof::model
