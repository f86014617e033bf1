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
  double every = 1;    // one interval in so many is timed; 1: all are
  uint32_t exact = 0;  // the first intervals of each count that are all timed
  double squares = 0;  // sum of the squares of the intervals that stand for others
  double timed = 0;    // intervals that were timed
  double untimed = 0;  // raw time of long intervals that were not, in roughly known contexts
  // Raw time by which an interval of a window may be too long, beside a share of its length
  // (kExcessShare); and the length above which intervals are timed one after the other.
  double excess = 0, long_interval = 0;

  bool is_sparse() const { return every > 1; }
};
SparseTime SparseTimeOf(const profile::Reader& reader);

// Adds the error of the estimate to that of the correction, in raw units, for a tree whose metric
// `metric` is time; without a correction it is the whole error. Returns about one standard
// deviation of the whole tree's sum. Each interval x that stands for n was timed with the
// probability 1/n, so these add to the variance of the sum
//
//   n * (n - 1) * x^2 * profile::kWindow / 2
//
// Half of the intervals of a window may be those of one node, as where it calls a method again and
// again; they are timed together. The sum of the squares is known of the whole tree. Nodes have
// shares of it by the number of their intervals and the square of the mean one, of long intervals
// as if they were shorter. Returns 0, and adds nothing, for a recording that timed all intervals.
//
// Beside that, intervals of windows are longer than those of a full recording, in some programs by
// more than half (docs/MEASURED.md, "Estimated times"): this error adds up over all nodes whose
// mean interval is short. Those of the others are timed one after the other. The time of long
// intervals that were missed is part of the whole's error only.
double AddEstimateError(const SparseTime& sparse, const profile::CallTree& tree, size_t metric,
                        calibrate::Correction& correction);

}  // namespace jprof::model
