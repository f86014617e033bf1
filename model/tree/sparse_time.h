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
  double square = 0;   // mean square of the intervals that stand for others; 0: there are none
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
// deviation of the whole tree's sum. R intervals that are estimated by one in n have the variance
//
//   R * (n - 1) * mean square * profile::kWindow / 2
//
// because each is timed with the probability 1/n. Half of the intervals of a window may be those of
// one node, as where it calls a method again and again; they are timed together.
//
// The mean square is known of the whole tree. That of a node is the square of its mean interval,
// multiplied by how far intervals vary within contexts: the mean square of all by that of the
// contexts' means, but at least 1. So contexts that differ do not widen each other's errors.
//
// Beside that, intervals of windows are longer than those of a full recording, in some programs by
// more than half (docs/MEASURED.md, "Estimated times"): this error adds up over all nodes.
double AddEstimateError(const SparseTime& sparse, const profile::CallTree& tree, size_t metric,
                        calibrate::Correction& correction);

}  // namespace jprof::model
