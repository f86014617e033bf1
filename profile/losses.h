// What a profile is missing, by name: process-wide losses and the sums of the threads' own; and
// when its detail became less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/reader.h"

namespace jprof::profile {

struct Loss {
  std::string_view name;  // as in JSON
  std::string says;       // the text behind the count
  uint64_t count = 0;
};

// Every kind, also those with count 0.
std::vector<Loss> Losses(const Reader& reader);

// How much of the CPU time of the sampled threads the timers' signals stood for, by the threads'
// own clocks. Nothing: the profile was not sampled by CPU time, or by a jprof that did not record
// this.
struct Coverage {
  double cpu_seconds = 0, covered_seconds = 0;
  double Percent() const { return 100 * covered_seconds / cpu_seconds; }
};
std::optional<Coverage> CoverageOf(const ControlHeader& header);

// Seconds after the start at which recursion began to be folded, because half of --tree-memory was
// used. Counts stay exact: this is no loss.
std::optional<double> FoldedFrom(const ControlHeader& header);
// "recursion folded from 12.1 s on (half of --tree-memory was used)", or empty.
std::string FoldedText(const ControlHeader& header);

}  // namespace jprof::profile
