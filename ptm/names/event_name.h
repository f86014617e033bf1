// Metric names: the names that a user may give to --metrics, and their encodings for the agent.
//
// For tools outside the profiled process only, because it uses PAPI and libpfm4. Not thread-safe,
// like those. Names are case-insensitive:
//   time, dispatches              the agent's own, not events
//   PAPI_TOT_INS, PAPI_L1_DCM...  PAPI presets; modifiers may follow: PAPI_TOT_INS:u:k
//   perf::PAGE-FAULTS, INSTRUCTIONS:u, RETIRED_INSTRUCTIONS, r00c0...   libpfm4 events
// A hardware event counts user mode unless the name specifies otherwise (:u, :k, :u:k), because
// kernel mode includes interrupts and the work of other processes. A software event counts both.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "ptm/event_spec.h"

namespace jprof::ptm {

struct NamedEvent {
  EventSpec spec;
  std::string native;  // the event that it resolves to, in libpfm4's full spelling
  // For the user, if the event differs from what the name suggests; else empty.
  std::string note;
};

bool IsBuiltInMetric(std::string_view name);

// Resolves a name, whether or not this machine has the event. Errors (kWrongUse): unknown (suggests
// the nearest), bad modifier (lists the valid ones), a preset of more than one event (lists them).
Result<NamedEvent> ResolveEvent(std::string_view name);

// Resolves the name and opens the event, because the lists contain events that cannot be opened;
// the result describes the event that could be. Error (kWrongUse): also why this machine cannot
// count it, and what to change. An event that must increase under any work, such as instructions,
// is counted over a short loop: some machines open it and count nothing.
Result<NamedEvent> CheckEvent(std::string_view name);

// A checked metric list: 8 at most, no duplicates (nor one event under two names), all can be
// counted. Errors (kWrongUse) as for CheckEvent. `notes`: notes for the user, one line each.
struct CheckedMetric {
  std::string name;                // as typed
  std::optional<EventSpec> event;  // none: built in

  // The name in the agent's option METRICS: of a built-in metric its own, of an event the encoding.
  std::string AgentName() const { return event ? EncodeMetric(*event) : name; }
};
struct CheckedMetrics {
  std::vector<CheckedMetric> metrics;
  std::vector<std::string> notes;

  // Whether a metric is counted by tracing the program (kCountedInMemory).
  bool NeedTracing() const;
};
// What to do with instructions in user mode that no counter of this machine can count: fail, or
// count them by tracing the program.
enum class Uncounted { kFail, kTrace };
Result<CheckedMetrics> CheckMetrics(std::span<const std::string> names,
                                    Uncounted instructions = Uncounted::kFail);

// All known names, sorted: PAPI presets and libpfm4's events for this CPU. Most may not open.
std::vector<std::string> KnownEvents();

// The description from PAPI or libpfm4; empty: unknown name, or no description.
std::string DescribeEvent(std::string_view name);

// The alternative names of an event: the presets that resolve to a native event, or the native
// events that a preset resolves to.
std::vector<std::string> OtherNames(std::string_view name);

// Determines whether these events can be counted at the same time on this CPU. Returns the indices
// of those that start a new group because they do not fit with the preceding ones; empty: all fit.
// Requires that each can be counted (CheckMetrics).
std::vector<size_t> DoNotFit(std::span<const EventSpec> events);

// PAPI's version, e.g. "7.0.0", or why it cannot start.
std::string PapiVersion();

}  // namespace jprof::ptm
