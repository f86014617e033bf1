// Refits the overheads of a table to a program whose production times are known from samples.
// Pure. Each observation is a set of intervals: a method's, or a calling context's.
//
//   excess = raw time - production time = sum over keys of events * overhead + residue
//
// The trained overheads are the prior. The residue has two parts: chance, of a known variance, and
// a model error in proportion to the number of intervals, of a size for each group that makes the
// observations most probable. Lost inlining and lost intrinsics are in the excess, so that they
// come out as overhead where they are in proportion to events, and as model error otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/result.h"

namespace jprof::calibrate {

// One overhead as trained, in raw units: a normal distribution. Overheads of one group have a
// common deviation beside their own.
struct Prior {
  double mean = 0;
  double own = 0;     // standard deviation, positive
  double shared = 0;  // standard deviation that the group has in common
  uint32_t group = 0;
};

struct Observation {
  std::vector<std::pair<uint32_t, double>> events;  // index of the prior, number of intervals
  double excess = 0;
  double variance = 0;               // of the excess, by chance; positive
  bool model_errors_cancel = false;  // if it is of many methods, whose model errors are not in it
};

struct Refitted {
  std::vector<double> mean;  // one per prior
  std::vector<double> sd;    // one standard deviation of it
  // One standard deviation of the overhead of all intervals together: of the observations whose
  // model errors cancel.
  double whole_sd = 0;
  // By group, the standard deviation of an observation's overhead per interval.
  std::map<uint32_t, double> model_error;
};

// Refits the overheads, which remain the prior if there are no observations. Observations far
// outside of what the others let expect have little weight (Student's t with 4 degrees of freedom).
// Fails if a value is not finite, or a standard deviation or variance is not positive.
Result<Refitted> Refit(const std::vector<Prior>& priors,
                       const std::vector<Observation>& observations);

}  // namespace jprof::calibrate
