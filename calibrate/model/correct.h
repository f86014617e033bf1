// Computes the overhead that a report subtracts from each node of a call tree
// (docs/CALIBRATION.md, "Applying it"). Pure: the input is one metric's counts and its table:
//
//   adjust(X) = sum over children, of entries(child, previous) * overhead(previous, X, En, child)
//             + sum over X's exits, by previous event,         * overhead(previous, X, Ex, parent)
//   BASE(X)   = raw(X) - adjust(X)
//
// If the table has probes for a method's type, they replace the overheads: the cost of each of X's
// events is attributed to X and its caller as described at Probe.
//
// A node may have several parts: its counts while its method was interpreted, compiled by C1, and
// compiled by C2. A part's own events use the part's type. Where the node is the other method of a
// transition (it runs while a child is entered, or is returned to), its types are weighted by its
// calls, because the recording does not contain the type that it had.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "calibrate/model/table.h"

namespace jprof::calibrate {

inline constexpr uint32_t kRoot = 0xffffffffu;  // the parent of a thread row
inline constexpr size_t kLevels = 5;            // of Level

// Contains columns of equal length. A part is a node or a superseded record, which contains further
// counts of the node `parent`.
struct CountedTree {
  std::span<const uint32_t> parent;  // a node before this one, or kRoot
  std::span<const uint8_t> superseded;
  std::span<const char> letter;  // as in Key; lower case if static
  // The numbers of entries after an entry, entries after an exit, exits after an entry, and exits
  // after an exit.
  std::span<const std::array<uint32_t, 4>> counts;
  std::span<const Kept> kept = {};  // optional; if empty, nothing is kept
  // Whether what threads did outside of any call was not recorded (--within): an entry from a
  // thread row then ended no interval that is in the tree.
  bool rows_are_outside = false;
};

// Calls visit(node, key, events) for all intervals of the tree. A node's key may occur repeatedly.
using IntervalVisitor = std::function<void(uint32_t node, const Key& key, double events)>;
void ForEachInterval(const CountedTree& tree, const IntervalVisitor& visit);

// The correction in the metric's raw units. adjust and error are per part, 0 for superseded parts
// (their node includes them).
struct Correction {
  std::vector<double> adjust;
  // About one standard deviation: sqrt(sum of events * spread^2) + sum of events *
  // Overhead::Systematic(), over the node's keys.
  std::vector<float> error;
  double total_error = 0;                   // the same for the sum of BASE over the whole tree
  std::array<double, kLevels> events = {};  // number of intervals by Level
};

// Computes the correction. `event_variance` is the variance that timed events add to every interval
// of the recording, in raw units squared.
Correction Correct(const CountedTree& tree, const Metric& metric, double event_variance = 0);

}  // namespace jprof::calibrate
