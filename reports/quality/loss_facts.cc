#include <algorithm>

#include "profile/read/losses.h"
#include "reports/quality/profile_facts.h"

namespace jprof::reports {
namespace {

using enum Severity;

// States what a loss is a part of. The severity depends on the share.
enum class Whole { kNone, kEvents, kSamples, kTraceEvents };

struct LossRow {
  std::string_view name;       // of profile::Loss
  std::string_view one, many;  // its text behind the count
  Severity severity;           // at least
  Whole whole;
  std::string_view means, advice = {};
};

constexpr std::string_view kUncounted =
    "Their calls are missing, and the calls that they make count for their callers.";

constexpr LossRow kLossRows[] = {
    {"disk_full", "file could not grow: recording stopped there",
     "files could not grow: recording stopped there", kSevere, Whole::kNone,
     "What came later is missing in all numbers.",
     "Free space on the disk, or lift the limit that is named, and record again."},
    {"lost_threads", "thread was not recorded", "threads were not recorded", kMajor, Whole::kNone,
     "What these threads did is missing in all numbers."},
    {"lost_events", "event of a lost or ended thread was not recorded",
     "events of lost or ended threads were not recorded", kMinor, Whole::kEvents,
     "They are missing in all numbers."},
    {"disarmed_threads", "thread stopped recording early", "threads stopped recording early",
     kMajor, Whole::kNone, "What they did from then on is missing."},
    {"dropped", "event was not recorded", "events were not recorded", kMinor, Whole::kEvents,
     "They are missing in all numbers."},
    {"overflow", "call had no space in the tree", "calls had no space in the tree", kMinor,
     Whole::kEvents, "They are counted, in rows named (overflow), not in their own contexts.",
     "Record with a larger --tree-memory, or --fold-recursion."},
    {"healed", "frame was found gone", "frames were found gone", kMinor, Whole::kNone,
     "Code was left without a visible exit; the calls were ended when their callers continued. "
     "Counts are right; the last part of their time may be the caller's."},
    {"unmatched", "exit without an entry", "exits without an entry", kMinor, Whole::kNone,
     "They were ignored: their entries were before the recording, or were lost."},
    {"trace_dropped", "trace event found no space", "trace events found no space", kMinor,
     Whole::kTraceEvents, "The trace ends early.",
     "Record with a larger --trace-memory, or --mode continuous."},
    {"trace_overwritten", "older trace event was overwritten",
     "older trace events were overwritten", kMinor, Whole::kNone,
     "The trace has the latest events of each thread, as requested.",
     "Record with a larger --trace-memory, or --mode continuous."},
    {"samples_lost", "sample was not taken", "samples were not taken", kMinor, Whole::kSamples,
     "They are missing in all values."},
    {"threads_not_sampled", "thread could not be sampled", "threads could not be sampled", kMajor,
     Whole::kNone, "What these threads did is missing, in all values or in those of some events.",
     "jprof doctor"},
    {"threads_by_other_timer", "thread was sampled by another timer",
     "threads were sampled by another timer", kMinor, Whole::kNone,
     "Their stacks have no functions of the kernel.", "jprof doctor"},
    {"signals_taken", "signal of sampling was taken over by the program",
     "signals of sampling were taken over by the program", kMajor, Whole::kNone,
     "No sample was taken from then on."},
    {"threads_blocking_signal", "thread blocked the signal of sampling",
     "threads blocked the signal of sampling", kMinor, Whole::kNone,
     "They were not sampled meanwhile."},
    {"memory_failures", "event was not recorded for lack of memory",
     "events were not recorded for lack of memory", kMajor, Whole::kNone,
     "They are missing in all numbers."},
    {"lost_lock_edges", "wait or order of locks had no space",
     "waits and orders of locks had no space", kMajor, Whole::kNone,
     "Who waits for whom, and contradicting orders, are incomplete. The counts are right."},
    {"lost_durations", "call had no space in its distribution",
     "calls had no space in their distributions", kMajor, Whole::kNone,
     "The distributions are incomplete. The counts and times of other reports are right.",
     "Record with fewer methods in --distribution, or with --fold-recursion."},
    {"slow_not_kept", "slow call had no space", "slow calls had no space", kMajor, Whole::kNone,
     "How long they took is known, and not what they called.",
     "Record with a longer time in --slow, or with a larger --slow-memory."},
    {"slow_cut", "slow call has lost events", "slow calls have lost events", kMajor, Whole::kNone,
     "Their beginnings were overwritten before they ended. Their times are right.",
     "Record with a larger --trace-memory, the ring of each thread."},
    {"slow_unended", "watched call was left without an exit",
     "watched calls were left without an exit", kMinor, Whole::kNone,
     "How long they took is not known. If they were slow, they are missing."},
    {"name_failures", "method without a readable name", "methods without a readable name", kMinor,
     Whole::kNone, "Their rows have no name."},
    {"unwoven_methods", "method was too large to count", "methods were too large to count", kMinor,
     Whole::kNone, kUncounted, "Record with --counter probe."},
    {"unwoven_classes", "class could not be changed to count",
     "classes could not be changed to count", kMinor, Whole::kNone, kUncounted,
     "Record with --counter probe."},
    {"unprobed_methods", "method was compiled without probes",
     "methods were compiled without probes", kMinor, Whole::kNone, kUncounted,
     "Record with --probe jvmti."},
    {"unpatched_modules", "module could not be recorded", "modules could not be recorded", kMajor,
     Whole::kNone, "Their functions are missing.", "Compile them with -finstrument-functions."},
    {"wall_clock_threads", "thread was measured by wall clock",
     "threads were measured by wall clock", kMajor, Whole::kNone,
     "Their values contain time in which they did not run.", "jprof doctor"},
    {"uncounted_threads", "thread has no counters", "threads have no counters", kMajor,
     Whole::kNone, "Their values of all metrics but time are too low.", "jprof doctor"},
};

double WholeOf(const ProfileEvidence& of, Whole whole) {
  uint64_t samples = 0, trace_events = 0;
  for (const profile::Thread& thread : of.reader().threads()) {
    samples += thread.record.samples;
    trace_events += thread.record.trace_events;
  }
  if (whole == Whole::kSamples) return static_cast<double>(samples);
  if (whole == Whole::kTraceEvents) return static_cast<double>(trace_events);
  return of.forest == nullptr ? 0 : static_cast<double>(of.forest->calls);
}

// Returns the severity by the share of the loss in all that would have been recorded, or that of
// the row if this is not known: without a tree there is no number of calls.
Severity SeverityOf(const ProfileEvidence& of, const LossRow& row, uint64_t count) {
  const double whole = row.whole == Whole::kNone ? 0 : WholeOf(of, row.whole);
  if (whole == 0) return row.severity;
  const auto lost = static_cast<double>(count);
  return std::max(row.severity, Graded(lost / (lost + whole), {.major = 0.01, .severe = 0.25}));
}

Fact FactOf(const ProfileEvidence& of, const profile::Loss& loss) {
  Fact fact = {.name = loss.name,
               .value = static_cast<double>(loss.count),
               .severity = kMajor,
               .text = fmt::format("{} {}", loss.count, loss.description),
               .detail = loss.description,
               .means = {},
               .advice = {}};
  const auto row = std::ranges::find(kLossRows, loss.name, &LossRow::name);
  if (row == std::end(kLossRows)) return fact;
  fact.severity = SeverityOf(of, *row, loss.count);
  fact.text = Counted(loss.count, row->one, row->many);
  // Its reason, "(disk full)", decides what to do.
  if (row->name == "disk_full") fact.text += loss.description.substr(loss.description.rfind(" ("));
  if (loss.description == row->many) fact.detail.clear();
  fact.means = row->means;
  fact.advice = row->advice;
  return fact;
}

}  // namespace

std::vector<Fact> LossFacts(const ProfileEvidence& evidence) {
  std::vector<Fact> facts;
  for (const profile::Loss& loss : profile::Losses(evidence.reader())) {
    // The fact "covered" is about the same.
    if (loss.count > 0 && loss.name != "uncovered_cpu_ms") facts.push_back(FactOf(evidence, loss));
  }
  return facts;
}

}  // namespace jprof::reports
