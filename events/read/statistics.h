// Reads the statistics of a trace of events.
#pragma once

#include "events/read/trace.h"

namespace jprof::events {

// Adds up the statistics of all threads, of the newest reset. Files that are damaged are added to
// trace.damages.
void ReadStatistics(Trace& trace);

}  // namespace jprof::events
