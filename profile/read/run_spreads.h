// How much runs of one program differ, as far as it was known when a combined profile was made.
#pragma once

#include <cmath>
#include <cstdint>

namespace jprof::profile {

// A relative standard deviation between runs, and the degrees of freedom it counts for.
struct RunSpread {
  double relative = 0;
  double freedom = 0;
  bool operator==(const RunSpread&) const = default;
};

// Returns both together: the mean of their variances, weighted by their degrees of freedom.
inline RunSpread Pooled(const RunSpread& a, const RunSpread& b) {
  const double freedom = a.freedom + b.freedom;
  if (!(freedom > 0)) return a;
  const double squares = a.freedom * a.relative * a.relative + b.freedom * b.relative * b.relative;
  return {std::sqrt(squares / freedom), freedom};
}

// The defaults are those of ten programs on a virtual machine (docs/decisions/0040).
struct RunSpreads {
  RunSpread total = {0.05, 3};     // of the CPU time of a run
  RunSpread share = {0.07, 2};     // of a context's share of it, with all that it called
  RunSpread own_share = {0.2, 4};  // of the share of a context alone
  uint64_t profiles = 0;           // earlier profiles of the machine that it was learned from
  bool operator==(const RunSpreads&) const = default;
};

}  // namespace jprof::profile
