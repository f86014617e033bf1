// Lists by name what a profile is missing, which are process-wide losses and the sums of the
// threads' own, and states when its detail was reduced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/read/reader.h"

namespace jprof::profile {

struct Loss {
  std::string_view name;    // as in JSON
  std::string description;  // the text behind the count
  uint64_t count = 0;
};

// Returns every kind, including those with count 0.
std::vector<Loss> Losses(const Reader& reader);

// The part of the CPU time of the sampled threads, by the threads' own clocks, that the timers'
// signals stood for. CoverageOf returns nothing if the profile was not sampled by CPU time, or by a
// jprof that did not record this.
struct Coverage {
  double cpu_seconds = 0, covered_seconds = 0;
  double Percent() const { return 100 * covered_seconds / cpu_seconds; }
};
std::optional<Coverage> CoverageOf(const ControlHeader& header);

// Returns the seconds after the start at which recursion began to be folded because half of
// --tree-memory was used. Counts stay exact, so this is no loss.
std::optional<double> FoldedFrom(const ControlHeader& header);
// Returns "recursion folded from 12.1 s on (half of --tree-memory was used)", or an empty text.
std::string FoldedText(const ControlHeader& header);

}  // namespace jprof::profile
