// Metric names: what a user may write after --metrics, and what the agent is told instead.
//
// For tools outside the profiled process only: PAPI and libpfm4 live here. Not thread-safe (neither
// are they). Names are, in any case (upper or lower):
//   time, dispatches              the agent's own, no event
//   PAPI_TOT_INS, PAPI_L1_DCM...  PAPI presets; modifiers may follow: PAPI_TOT_INS:u:k
//   perf::PAGE-FAULTS, INSTRUCTIONS:u, RETIRED_INSTRUCTIONS, r00c0...   libpfm4 events
// A hardware event counts user mode unless the name says otherwise (:u, :k, :u:k), because
// interrupts and other people's work are in kernel mode; a software event counts both.
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
  std::string native;  // the event it comes to, in libpfm4's full spelling
  std::string
      note;  // what the user should know: counted otherwise than the name promises; else empty
};

bool IsBuiltInMetric(std::string_view name);

// What the name means, whether or not this machine has it. Errors (exit code 2): unknown (names the
// nearest), bad modifier (names the valid ones), a preset that is more than one event (names them).
Result<NamedEvent> ResolveEvent(std::string_view name);

// Resolves the name and opens the event, because lists lie; the result counts what could be had.
// Error (exit code 2): also why this machine cannot count it and what to change. An event that must
// move under any work, instructions above all, is counted over a short loop: some machines open it
// and count nothing.
Result<NamedEvent> CheckEvent(std::string_view name);

// A metric list, checked: 8 at most, none twice (nor one event under two names), all can be
// counted. Errors (exit code 2) as of CheckEvent. `notes`: what the user should know, one line
// each.
struct CheckedMetric {
  std::string name;                // as typed
  std::optional<EventSpec> event;  // none: built in
};
struct CheckedMetrics {
  std::vector<CheckedMetric> metrics;
  std::vector<std::string> notes;
};
Result<CheckedMetrics> CheckMetrics(std::span<const std::string> names);

// The agent's names for the same: built-in names as they are, events encoded.
struct AgentMetrics {
  std::vector<std::string> names;
  std::vector<std::string> notes;
};
Result<AgentMetrics> MetricsForAgent(std::span<const std::string> names);

// Every name known here, sorted: PAPI presets and libpfm4's events for this CPU. Most may not open.
std::vector<std::string> KnownEvents();

// What it is, in PAPI's or libpfm4's words; empty: no such name, or they have none.
std::string DescribeEvent(std::string_view name);

// The same event's names on the other side: the presets that come to a native event, or what a
// preset comes to.
std::vector<std::string> OtherNames(std::string_view name);

// Whether these count at the same time on this CPU: which of them start a group of their own
// because they do not fit to those before. Empty: all fit. All can be counted (CheckMetrics).
std::vector<size_t> DoNotFit(std::span<const EventSpec> events);

// PAPI's version, e.g. "7.0.0", or why it cannot start.
std::string PapiVersion();

}  // namespace jprof::ptm
