// Resolves metric names: the names that a user may give to --metrics, and their encodings for
// the agent.
//
// It is for tools outside the profiled process only, because it uses PAPI and libpfm4, and like
// those it is not thread-safe. Names are case-insensitive:
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
  // A note for the user if the event differs from what the name suggests, else empty.
  std::string note;
};

bool IsBuiltInMetric(std::string_view name);

// Resolves a name, whether or not this machine has the event. Fails (kWrongUse) if the name is
// unknown, has a bad modifier or is a preset of more than one event. The message suggests the
// nearest name, or lists the valid modifiers or the events.
Result<NamedEvent> ResolveEvent(std::string_view name);

// Resolves the name and opens the event, because the lists contain events that cannot be opened;
// the result describes the event that could be. Fails (kWrongUse) like ResolveEvent, and if this
// machine cannot count the event; the message states why, and what to change. An event that must
// increase under any work, such as instructions, is counted over a short loop: some machines open
// it and count nothing.
Result<NamedEvent> CheckEvent(std::string_view name);

// The result of CheckMetrics, which accepts 8 metrics at most, without duplicates (nor one event
// under two names), if all can be counted. It fails (kWrongUse) as CheckEvent does. `notes` are for
// the user, one line each.
struct CheckedMetric {
  std::string name;                // as typed
  std::optional<EventSpec> event;  // none if built in

  // Returns the name in the agent's option METRICS: that of a built-in metric, or an
  // event's encoding.
  std::string AgentName() const { return event ? EncodeMetric(*event) : name; }
};
struct CheckedMetrics {
  std::vector<CheckedMetric> metrics;
  std::vector<std::string> notes;

  // Returns whether a metric is counted by tracing the program (kCountedInMemory).
  bool NeedTracing() const;
};
// States what to do with instructions in user mode that no counter of this machine can count: fail,
// or count them by tracing the program.
enum class Uncounted { kFail, kTrace };
Result<CheckedMetrics> CheckMetrics(std::span<const std::string> names,
                                    Uncounted instructions = Uncounted::kFail);

// Splits a list A+B or A,B into names.
std::vector<std::string> SplitNames(std::string_view list);

// Returns all known names, sorted: PAPI presets and libpfm4's events for this CPU. Most may
// not open.
std::vector<std::string> KnownEvents();

// Returns the description from PAPI or libpfm4. It is empty if the name is unknown or has none.
std::string DescribeEvent(std::string_view name);

// Returns the alternative names of an event: the presets that resolve to a native event, or the
// native events that a preset resolves to.
std::vector<std::string> OtherNames(std::string_view name);

// Determines whether these events can be counted at the same time on this CPU. Returns the indices
// of those that start a new group because they do not fit with the preceding ones, so it is empty
// if all fit. Requires that each can be counted (CheckMetrics).
std::vector<size_t> DoNotFit(std::span<const EventSpec> events);

// Returns PAPI's version, e.g. "7.0.0", or why it cannot start.
std::string PapiVersion();

}  // namespace jprof::ptm
