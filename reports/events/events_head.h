// Describes recorded events for the heads of reports.
#pragma once

#include <vector>

#include "model/events/recorded_events.h"
#include "reports/print/json_writer.h"
#include "reports/quality/head.h"

namespace jprof::reports {

// Prints the head of a text report.
void EventsHead(const model::RecordedEvents& events, std::string_view report, size_t width,
                Output& out);

// Writes the members of JSON that describe the recording.
void EventsJson(const model::RecordedEvents& events, std::string_view report, JsonWriter& json);

// Returns which threads are the program's: those of its process and of those that it made. Without
// a program all are.
std::vector<bool> ProgramThreads(const model::RecordedEvents& events);

}  // namespace jprof::reports
