#include "profile/read/losses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>

#include "common/errno_text.h"
#include "profile/files/printable_text.h"

namespace jprof::profile {
namespace {

std::string WhyNoGrowth(const ControlHeader& header) {
  if (header.file_size_limit != 0)
    return fmt::format("file size limit of {} bytes, ulimit -f", header.file_size_limit);
  switch (header.growth_error) {
    case ESTALE:
      return "the program closed the file, and it cannot be opened again by its path";
    case 0:
    case ENOSPC:
      return "disk full";
    default:
      return ErrnoText(static_cast<int>(header.growth_error));
  }
}

std::string OverflowText(const ControlHeader& header) {
  const bool by_growth = header.disk_full != 0, by_limit = header.tree_full != 0 || !by_growth;
  return fmt::format("calls {}{}{}, shown in rows named (overflow)",
                     by_limit ? "past --tree-memory" : "", by_limit && by_growth ? " or " : "",
                     by_growth ? "after a file could not grow" : "");
}

std::string WhyNotSampled(int error) {
  return error == EBADF ? "the program closed the descriptors of their events" : ErrnoText(error);
}

constexpr double kCovered = 90;  // percent: below it, CPU time without samples is a loss

// Returns "SIGSTKFLT", or a number where the C library has no name.
std::string SignalName(uint32_t number) {
  const char* name = sigabbrev_np(static_cast<int>(number));
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

double SecondsAfterStart(const ControlHeader& header, uint64_t ticks) {
  const uint64_t after = ticks - std::min(header.start_ticks, ticks);
  const uint64_t per_second = std::max<uint64_t>(header.ticks_per_second, 1);
  return static_cast<double>(after) / static_cast<double>(per_second);
}

std::string SignalTakenText(const ControlHeader& header) {
  const auto& by = header.signal_taken_by;
  return fmt::format(
      "signal was taken over: {}, by {}, {:.1f} s after the start at the latest; no sample was "
      "taken "
      "by it from then on",
      SignalName(header.signal_taken), CleanText({by, strnlen(by, sizeof by)}),
      SecondsAfterStart(header, header.signal_taken_ticks));
}

std::string NamesIn(const UncountedRecord& record) {
  return CleanText({record.names, strnlen(record.names, sizeof record.names)});
}

// Returns "methods were too large ...: a.B.c, d.E.f".
std::string UncountedText(std::string_view what, std::string_view counted_by,
                          const UncountedRecord& record) {
  return fmt::format(
      "{}: their calls are missing, and the calls that they make count for their callers "
      "({} counts them): {}",
      what, counted_by, NamesIn(record));
}

std::string UnpatchedText(const UncountedRecord& record) {
  return fmt::format(
      "modules have sleds that could not be patched: their functions are not recorded "
      "(compile them with -finstrument-functions): {}",
      NamesIn(record));
}

// Returns the CPU time without samples, or 0 if chance explains it: a thread's last samples may be
// a period early or late, and short threads have few.
uint64_t UncoveredMilliseconds(const Reader& reader, const std::optional<Coverage>& coverage) {
  const auto& metrics = reader.meta().metrics;
  const auto metric = std::ranges::find_if(metrics, &Metric::is_cpu_samples);
  if (!coverage || metric == metrics.end() || coverage->Percent() >= kCovered) return 0;
  const double missing_ns = 1e9 * (coverage->cpu_seconds - coverage->covered_seconds);
  const double threads = static_cast<double>(reader.threads().size());
  const double chance_ns =
      (10 + 3 * std::sqrt(threads)) * static_cast<double>(metric->period.value);
  return missing_ns > chance_ns ? static_cast<uint64_t>(std::llround(missing_ns / 1e6)) : 0;
}

// Returns why a thread has another timer. The kernel refuses to lock the buffer of an event with
// EPERM.
std::string WhyOtherTimer(int error) {
  if (error == EPERM) return "locked memory is used up (raise `ulimit -l`)";
  return ErrnoText(error);
}

}  // namespace

std::vector<Loss> Losses(const Reader& reader) {
  const ControlHeader& header = reader.header();
  ThreadRecord sum;
  uint64_t disarmed = header.more_disarmed;
  uint64_t wall_clock = header.more_no_clock;
  uint64_t uncounted = header.more_no_counters;
  uint64_t not_sampled = header.more_not_sampled;
  uint64_t blocks_signal = header.more_blocks_signal;
  uint64_t other_timer = header.more_other_timer;
  std::set<std::string> why_not_sampled, why_other_timer;
  for (const Thread& thread : reader.threads()) {
    const ThreadRecord& one = thread.record;
    sum.healed += one.healed;
    sum.unmatched += one.unmatched;
    sum.overflow += one.overflow;
    // Filtered threads lose nothing.
    if ((one.flags & kThreadFiltered) == 0) sum.dropped += one.dropped;
    sum.trace_dropped += one.trace_dropped;
    sum.trace_overwritten += one.trace_overwritten;
    sum.samples_lost += one.samples_lost;
    disarmed += (one.flags & kThreadDisarmed) != 0;
    uncounted += (one.flags & kThreadNoCounters) != 0;
    if ((one.flags & kThreadNotSampled) != 0) {
      ++not_sampled;
      why_not_sampled.insert(WhyNotSampled(ErrorOfFlags(one.flags)));
    }
    if ((one.flags & kThreadOtherTimer) != 0) {
      ++other_timer;
      if ((one.flags & kThreadNotSampled) == 0)
        why_other_timer.insert(WhyOtherTimer(ErrorOfFlags(one.flags)));
    }
    blocks_signal += (one.flags & kThreadBlocksSignal) != 0;
    wall_clock += (one.flags & kThreadNoClock) != 0;
  }
  if (header.slow_items != 0) sum.trace_overwritten = 0;  // it was not to be kept
  const auto coverage = CoverageOf(header);
  const uint64_t uncovered = UncoveredMilliseconds(reader, coverage);
  return {
      {"lost_threads", "threads could not be recorded at all", header.lost_threads},
      {"lost_events", "events of lost or ended threads", header.lost_events},
      {"disk_full",
       fmt::format("times a file could not grow: recording stopped there ({})",
                   WhyNoGrowth(header)),
       header.disk_full},
      {"disarmed_threads", "threads stopped recording early", disarmed},
      {"dropped", "events not recorded", sum.dropped},
      {"overflow", OverflowText(header), sum.overflow},
      {"healed", "frames found gone and popped: counted as exits", sum.healed},
      {"unmatched", "exits without an entry: ignored", sum.unmatched},
      {"trace_dropped", "trace events found no room", sum.trace_dropped},
      {"trace_overwritten", "older trace events were overwritten (wrap, --keep)",
       sum.trace_overwritten},
      {"samples_lost", "samples not taken: no memory, or one was being taken", sum.samples_lost},
      {"threads_not_sampled",
       fmt::format("threads could not be sampled, or not by every event: {}",
                   fmt::join(why_not_sampled, ", ")),
       not_sampled},
      {"threads_by_other_timer",
       fmt::format("threads were sampled by POSIX timers or without kernel functions: {}",
                   fmt::join(why_other_timer, ", ")),
       other_timer},
      {"uncovered_cpu_ms",
       fmt::format("ms of CPU time of the sampled threads have no samples ({:.1f} % have)",
                   coverage ? coverage->Percent() : 0.0),
       uncovered},
      {"signals_taken", SignalTakenText(header), uint64_t{header.signal_taken_ticks != 0}},
      {"threads_blocking_signal",
       "threads ran with the signal of sampling blocked: not sampled meanwhile", blocks_signal},
      {"memory_failures", "events were not recorded: the agent found no memory for them",
       header.memory_failures},
      {"lost_lock_edges", "waits and orders of locks had no space in the profile",
       header.lost_lock_edges},
      {"lost_durations", "calls of watched methods had no space in their distributions",
       header.lost_durations},
      {"slow_not_kept", "slow calls had no space: only how long they took is known",
       header.slow_not_kept},
      {"slow_cut", "slow calls have lost events: the ring of a thread was too small for them",
       header.slow_cut},
      {"slow_unended", "watched calls were left without an exit: how long they took is not known",
       header.slow_unended},
      {"name_failures", "methods whose name could not be read", header.name_failures},
      {"unwoven_methods",
       UncountedText("methods were too large to count", "--counter probe", header.unwoven_methods),
       header.unwoven_methods.count},
      {"unwoven_classes",
       UncountedText("classes could not be changed", "--counter probe", header.unwoven_classes),
       header.unwoven_classes.count},
      {"unprobed_methods",
       UncountedText("methods were compiled without probes", "--probe jvmti",
                     header.unprobed_methods),
       header.unprobed_methods.count},
      {"unpatched_modules", UnpatchedText(header.unpatched_modules),
       header.unpatched_modules.count},
      {"wall_clock_threads", "threads measured by wall clock: their own could not be opened",
       wall_clock},
      {"uncounted_threads",
       "threads could not open or read their counters: metrics beyond time are too low there",
       uncounted},
  };
}

std::optional<Coverage> CoverageOf(const ControlHeader& header) {
  if (header.sampled_cpu_ns == 0) return std::nullopt;
  return Coverage{.cpu_seconds = static_cast<double>(header.sampled_cpu_ns) / 1e9,
                  .covered_seconds = static_cast<double>(header.signalled_cpu_ns) / 1e9};
}

std::optional<double> FoldedFrom(const ControlHeader& header) {
  if (header.folded_ticks == 0) return std::nullopt;
  return SecondsAfterStart(header, header.folded_ticks);
}

std::string FoldedText(const ControlHeader& header) {
  const auto from = FoldedFrom(header);
  if (!from) return "";
  return fmt::format("recursion folded from {:.1f} s on (half of --tree-memory was used)", *from);
}

}  // namespace jprof::profile
