// Computes the cost of probes for exact metrics from whole walks, less their true counts, and from
// the least interval of each transition. Pure.
#pragma once

#include <map>
#include <vector>

#include "calibrate/model/probes.h"
#include "calibrate/train/observation.h"

namespace jprof::calibrate {

// States that the sum over types of calls * (all four parts) + arguments * argument + results *
// result is `total`.
struct ProbeEquation {
  std::map<char, Calls> by_type;
  double total = 0;
};

struct ProbeFit {
  Probes probes;
  double deviation = 0;  // standard deviation of the equations' residues, per event
};

// Fits by least squares. Values that no equation determines are 0 for arguments and results, and
// the same for all types for the parts. `minima` contains the least interval of each transition. An
// empty leaf does next to no work of its own, so its least interval bounds the inner parts
// (enter_out + exit_in).
ProbeFit FitProbes(const std::vector<ProbeEquation>& equations,
                   const std::map<Key, double>& minima);

// Returns the overhead of a transition according to the probes. The type of a method that has
// returned is unknown, so it is taken to be that of the running one.
double OverheadOf(const Probes& probes, const Key& key);

}  // namespace jprof::calibrate
