#include "profile/losses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "common/errno_text.h"

namespace jprof::profile {

std::vector<Loss> Losses(const Reader& reader) {
  const ControlHeader& header = reader.header();
  ThreadRecord sum;
  uint64_t disarmed = header.more_disarmed;
  uint64_t wall_clock = header.more_no_clock;
  uint64_t uncounted = header.more_no_counters;
  uint64_t not_sampled = header.more_not_sampled;
  std::set<std::string> why_not_sampled;
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
      why_not_sampled.insert(ErrnoText(ErrorOfFlags(one.flags)));
    }
    wall_clock += (one.flags & kThreadNoClock) != 0;
  }
  return {
      {"lost_threads", "threads could not be recorded at all", header.lost_threads},
      {"lost_events", "events of lost or ended threads", header.lost_events},
      {"disk_full", "times a file could not grow: recording stopped there (disk full)",
       header.disk_full},
      {"disarmed_threads", "threads stopped recording early", disarmed},
      {"dropped", "events not recorded", sum.dropped},
      {"overflow", "calls past --tree-memory, shown in rows named (overflow)", sum.overflow},
      {"healed", "frames found gone and popped: counted as exits", sum.healed},
      {"unmatched", "exits without an entry: ignored", sum.unmatched},
      {"trace_dropped", "trace events found no room", sum.trace_dropped},
      {"trace_overwritten", "older trace events were overwritten (wrap)", sum.trace_overwritten},
      {"samples_lost", "samples not taken: no memory, or one was being taken", sum.samples_lost},
      {"threads_not_sampled",
       fmt::format("threads could not be sampled, or not by every event: {}",
                   fmt::join(why_not_sampled, ", ")),
       not_sampled},
      {"name_failures", "methods whose name could not be read", header.name_failures},
      {"wall_clock_threads", "threads measured by wall clock: their own could not be opened",
       wall_clock},
      {"uncounted_threads",
       "threads could not open their counters: metrics beyond time read 0 there", uncounted},
  };
}

std::optional<double> FoldedFrom(const ControlHeader& header) {
  if (header.folded_ticks == 0) return std::nullopt;
  const uint64_t after = header.folded_ticks - std::min(header.start_ticks, header.folded_ticks);
  const uint64_t per_second = std::max<uint64_t>(header.ticks_per_second, 1);
  return static_cast<double>(after) / static_cast<double>(per_second);
}

std::string FoldedText(const ControlHeader& header) {
  const auto from = FoldedFrom(header);
  if (!from) return "";
  return fmt::format("recursion folded from {:.1f} s on (half of --tree-memory was used)", *from);
}

}  // namespace jprof::profile
