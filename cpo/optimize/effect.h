// Estimates by how much a directive lowers a figure, from runs with and without it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace jprof::cpo {

// A run that is compared with others.
struct ComparedRun {
  std::vector<bool> applied;  // by directive; equally long in all runs
  double figure = 0;
};

struct Effect {
  double value = 0, low = 0, high = 0;  // the benefit, with its interval
  uint32_t runs = 0;
};

// What an interval holds. Decisions look at it after each run, up to some twenty times; with 99 %
// at each look, all looks together hold 95 % (Pocock 1977: Group sequential methods in the design
// and analysis of clinical trials).
inline constexpr double kHeldByInterval = 0.99;

// Returns the benefit of the directive: the mean of the runs without it less that of the runs with
// it, after the effects of the other directives, found by least squares, have been taken out. The
// interval is Welch's (1947), which does not assume that both kinds of runs vary equally; each of
// the others costs a degree of freedom. Returns nothing if there are fewer than two runs of a kind,
// or if the runs do not tell the directives apart.
std::optional<Effect> BenefitOf(std::span<const ComparedRun> runs, size_t directive);

}  // namespace jprof::cpo
