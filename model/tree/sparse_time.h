// The error of times of a recording that timed some intervals only (jprof callflow --time-every).
// The recorder has timed the first intervals of each count of a node, and one in n of the others
// (jprof/engine/sparse/intervals.h).
#pragma once

#include <cstdint>

#include "calibrate/model/correct.h"
#include "profile/read/reader.h"

namespace jprof::model {

// What the profile knows of its timed intervals.
struct SparseTime {
  double every = 1;      // one interval in so many is timed; 1: all are
  double variation = 1;  // mean square of intervals that stand for others, by that of their mean
  double timed = 0;      // intervals that were timed
  double untimed = 0;    // raw time of long intervals that were not, in roughly known contexts

  bool is_sparse() const { return every > 1; }
};
SparseTime SparseTimeOf(const profile::Reader& reader);

// Adds the error of the estimate to that of the correction, in raw units, for a tree whose metric
// `metric` is time. Returns about one standard deviation of the whole tree's sum. A node of N
// intervals whose sum is S, of which R are estimated by one in n, has the variance
//
//   R * (n - 1) * variation * (S / N)^2 * profile::kWindow / 2
//
// because each is timed with the probability 1/n. Half of the intervals of a window may be those of
// one node, as where it calls a method again and again; they are timed together.
double AddEstimateError(const SparseTime& sparse, const profile::CallTree& tree, size_t metric,
                        calibrate::Correction& correction);

}  // namespace jprof::model
