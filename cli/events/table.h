// Counts what is in a trace of events, and prints it as a table or JSON.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/result.h"
#include "events/read/trace.h"

namespace jprof::cli {

// Whether there are rows for each process, thread or processor. A processor's rows have the logged
// records that contain it, and statistics of these; a row without a processor has what is left, and
// what threads have summed up.
enum class EventGroups { kNone, kProcess, kThread, kProcessor };

// Two versions of an event are two rows.
struct EventRow {
  events::Writer group;  // without what the rows do not distinguish
  std::optional<uint32_t> processor;
  std::string event;
  uint32_t version = 0;

  auto operator<=>(const EventRow&) const = default;
};

struct EventCounts {
  uint64_t logged = 0;
  events::Summary statistics;
};

using EventRows = std::map<EventRow, EventCounts>;

// Reads all records. Adds what is damaged to trace.damages.
EventRows CountEvents(events::Trace& trace, EventGroups groups);

Result<void> PrintEventsJson(const events::Trace& trace, const EventRows& rows, EventGroups groups);
void PrintEventsText(const EventRows& rows, EventGroups groups);

}  // namespace jprof::cli
