// Bounds the overheads of a table by the profile that it corrects, where there are no samples of
// the unmodified program (docs/CALIBRATION.md, "Bounded by the profile itself"). Pure. No method
// takes less than no time, so that what is removed from it, apart from chance, cannot exceed what
// was recorded for it:
//
//   raw time / intervals = factor * trained overhead + own work + chance,   own work >= 0
//
// Many methods do next to nothing between two events (getters, loops around a call), so that the
// lower edge of their times shows what the probes cost in this program. Each type of running method
// has one factor, because the trainings of one type are wrong together. A factor is never above 1:
// more than the table is removed only where samples show it (refit.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/model/correct.h"
#include "calibrate/model/table.h"

namespace jprof::calibrate {

// The intervals in which one method ran, all of one type, in raw units. Whatever else shows what
// intervals cost in a program (times of some intervals only, say) is evidence in this form, too.
struct OwnTime {
  char group = 'I';     // type of the running method, upper case
  double events = 0;    // intervals
  double raw = 0;       // recorded in them
  double removed = 0;   // what the table would remove
  double variance = 0;  // of `raw`, by chance
  // The sums over intervals of how far an overhead depends at most on the code around it, and of
  // how far the table may be wrong in common for all methods, as standard deviations.
  double model_error = 0;
  double systematic = 0;
};

// What the program showed about the overheads of one type, as a multiple of the trained ones.
struct Bound {
  double factor = 1, low = 1, high = 1;  // the most probable one, and the 95 % interval
  double too_much = 0;                   // probability that the table removes too much
  size_t methods = 0;                    // whose times showed it
  double events = 0;                     // their intervals
};
using Bounds = std::map<char, Bound>;  // by type of the running method, upper case

// Returns the intervals of each method by the type that it ran as. `raw` is the metric and `owner`
// any number of the method, both by part of the tree. Nodes whose intervals are of several types
// are left out. `event_variance` is as for Correct.
std::vector<OwnTime> OwnTimesOf(const CountedTree& tree, std::span<const int64_t> raw,
                                std::span<const uint32_t> owner, const Metric& metric,
                                double event_variance);

// Returns the factor that these times, all of one type, make most probable, or none if too few of
// them can tell. Requires finite values.
std::optional<Bound> BoundOf(std::span<const OwnTime> times);

// Returns the types whose overheads the profile contradicts: those of which the table removes too
// much with a probability of 95 % or more, and the factor is notably below 1.
Bounds BoundsOf(const std::vector<OwnTime>& times);

// Returns the metric with the overheads of these types multiplied, and their errors widened by
// what the factor is not known. Overheads below 0 stay, because they remove nothing.
Metric Bounded(Metric metric, const Bounds& bounds);

}  // namespace jprof::calibrate
