// Makes the timeline of recorded events: for each thread the slices in which it runs, is ready to
// run, or waits, and for each processor those in which it runs a thread. Interrupts are not in it.
#pragma once

#include <memory>

#include "model/events/recorded_events.h"
#include "model/timeline/timeline.h"

namespace jprof::model {

// Returns the timeline, which owns the events; these refer to what they were loaded from.
std::unique_ptr<Timeline> TimelineOf(RecordedEvents events);

}  // namespace jprof::model
