// Makes the timeline of a recording of `jprof itrace`: the calls of each traced thread as slices,
// its signals and system calls as instants, and a counter of the instructions that it has executed.
//
// Slices are the entries of the shadow stack (model/itrace/arc_model.h): they have the names of the
// report arc, end by the same rules, and those that count a call are as many as its calls.
// A counter has a value at its thread's first record, then at the first record that is at least
// 10 us after the previous value, and at the thread's last record.
#pragma once

#include <memory>

#include "model/itrace/arc_recording.h"
#include "model/timeline/timeline.h"

namespace jprof::model {

// Returns the timeline, which refers to the recording. Does not fail.
Result<std::unique_ptr<Timeline>> OpenTimeline(ArcRecording& arcs);

}  // namespace jprof::model
