// Lists the triggers of samples, parses them (SCS=event[=N]+...), and returns the metrics that they
// add to the profile. A new event of the VM is an enumerator and a row here. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "profile/files/meta.h"
#include "ptm/event_spec.h"

namespace jprof::options {

inline constexpr size_t kMostMetrics = 8;  // of a profile

enum class TriggerKind : uint8_t {
  kTime,            // CPU time of the thread
  kEvent,           // a perf event of the thread
  kAllocatedBytes,  // this and all others: see kTriggers
  kAllocations,
  kMonitorWait,
  kMonitorWaited,
  kMonitorContendedEnter,
  kMonitorContendedEntered,
  kClassLoad,
  kIdle,
  kWall,
};

struct KnownTrigger {
  TriggerKind kind;
  std::string_view name;
  std::string_view unit;         // of a weighted metric; empty: not weighted
  uint64_t every;                // the default
  std::string_view period_unit;  // of `every`
  std::string_view help;
};
// Lists all kinds but kEvent, in the order of the help.
inline constexpr KnownTrigger kTriggers[] = {
    {TriggerKind::kTime, "TIME", "", 0, "ns",
     "CPU time of each thread (the default; the rate sets the period)"},
    {TriggerKind::kAllocatedBytes, "ALLOCATED_BYTES", "bytes", 512 * 1024, "bytes",
     "an object about every N allocated bytes; estimates bytes"},
    {TriggerKind::kAllocations, "ALLOCATIONS", "", 1000, "events",
     "every N-th allocated object (slow: the VM reports all of them)"},
    {TriggerKind::kMonitorWait, "MONITOR_WAIT", "", 1, "events", "every N-th call of Object.wait"},
    {TriggerKind::kMonitorWaited, "MONITOR_WAITED", "ns", 1, "events",
     "every N-th end of Object.wait, with the time waited"},
    {TriggerKind::kMonitorContendedEnter, "MONITOR_CONTENDED_ENTER", "", 1, "events",
     "every N-th attempt to enter a monitor that another thread holds"},
    {TriggerKind::kMonitorContendedEntered, "MONITOR_CONTENDED_ENTERED", "ns", 1, "events",
     "every N-th entry of such a monitor, with the time waited"},
    {TriggerKind::kClassLoad, "CLASS_LOAD", "", 1, "events", "every N-th loaded class"},
    {TriggerKind::kIdle, "IDLE", "", 10, "ms", "the stack of every idle thread, every N ms"},
    {TriggerKind::kWall, "WALL", "", 10, "ms",
     "the stack of every thread, running or idle, every N ms"},
};

struct Trigger {
  TriggerKind kind = TriggerKind::kTime;
  // The period of sampling, in ns of CPU time (kTime; determined by the rate if 0), events, bytes,
  // or ms (kIdle, kWall).
  uint64_t every = 0;
  std::string event;       // of kEvent, as EncodeMetric of ptm/event_spec.h writes it
  uint64_t requested = 0;  // for timers, the requested period if `every` was increased; else 0
  bool operator==(const Trigger&) const = default;
};

// Parses a text like "ALLOCATED_BYTES=65536+IDLE+raw:...=1000". Fails (kWrongUse) if an event is
// unknown or repeated, a number is out of bounds, or there are too many metrics. The message does
// not name the option.
Result<std::vector<Trigger>> ParseTriggers(std::string_view text);
// Parses one of these.
Result<Trigger> ParseTrigger(std::string_view text);
// Returns whether `name` is an event of the JVM, in any case, or an encoded perf event.
bool IsTriggerName(std::string_view name);
// Parses the period. Errors name the event `name`.
Result<void> SetPeriod(Trigger& trigger, std::string_view name, std::string_view number);
// Adds a trigger. `text` is the trigger as written, for errors.
Result<void> AddTrigger(std::vector<Trigger>& triggers, Trigger trigger, std::string_view text);
std::string ToString(std::span<const Trigger> triggers);
// Returns whether the trigger is a timer, with `every` in ns of a thread's CPU time.
bool IsClock(const Trigger& trigger);
// Returns one line of help per event, for --help.
std::string TriggerHelp();

// Returns the metrics that the trigger adds to the profile: one, or a weighted one and the number
// of its samples.
std::vector<profile::Metric> MetricsOf(const Trigger& trigger);
std::vector<profile::Metric> MetricsOf(std::span<const Trigger> triggers);

}  // namespace jprof::options
