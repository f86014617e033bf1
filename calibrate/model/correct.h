// Takes the profiler's own cost out of a call tree (calibration.md, "Applying it"). Pure: one
// metric's raw counts and its table in, what to subtract from each node out:
//
//   adjust(X) = sum over children, of entries(child, previous) * overhead(previous, X, En, child)
//             + sum over X's exits, by previous event,         * overhead(previous, X, Ex, parent)
//   BASE(X)   = raw(X) - adjust(X)
//
// Where the table has probes for a method's type, these instead of overheads: each of X's events is
// charged to X and its caller as Probe says.
//
// A node may have several parts: its counts while its method was interpreted, C1, C2. A part's own
// events use the part's type; where the node stands on the other side (running while a child is
// entered, or returned to), its types are weighted by its calls, because nobody recorded which of
// them it was.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/model/table.h"

namespace jprof::calibrate {

inline constexpr uint32_t kRoot = 0xffffffffu;  // the parent of a thread row
inline constexpr size_t kLevels = 5;            // of Level

// Columns of equal length. A part is a node, or (former != 0) further counts of the node `parent`.
struct CountedTree {
  std::span<const uint32_t> parent;  // < own index and a node, or kRoot
  std::span<const uint8_t> former;
  std::span<const char> letter;  // as in Key, lower case = static
  // Entries after an entry, after an exit; exits after an entry, after an exit.
  std::span<const std::array<uint32_t, 4>> counts;
  std::span<const Kept> kept = {};  // may be left out: nothing is kept
};

// All in the metric's raw units; adjust and error are per part, 0 for former parts (their node has
// theirs).
struct Correction {
  std::vector<double> adjust;
  // About one standard deviation: sqrt(sum of events * spread^2) + sum of events *
  // hypot(repeat, context), over the node's keys.
  std::vector<float> error;
  double total_error = 0;                   // the same for the sum of BASE over the whole tree
  std::array<double, kLevels> events = {};  // how many intervals each Level answered for
};

// `event_variance`: variance that the recording adds to every interval (bracketing), in raw units
// squared.
Correction Correct(const CountedTree& tree, const Metric& metric, double event_variance = 0);

}  // namespace jprof::calibrate
