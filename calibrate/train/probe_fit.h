// What probes cost, learnt where every count is exact: from whole walks, what they truly count
// taken off, and from the least interval of each transition. Pure.
#pragma once

#include <map>
#include <vector>

#include "calibrate/model/probes.h"
#include "calibrate/train/observation.h"

namespace jprof::calibrate {

// sum over types of calls * (all four parts) + arguments * argument + results * result == total
struct ProbeEquation {
  std::map<char, Calls> by_type;
  double total = 0;
};

struct ProbeFit {
  Probes probes;
  double off = 0;  // standard deviation of what an equation leaves unexplained, per event
};

// Least squares. What no equation tells apart is 0 for arguments and results, and the same for all
// types for the parts. `minima`: the least interval seen of each transition; an empty leaf's has
// next to no work of its own, so the inner parts (enter_out + exit_in) take no more than it.
ProbeFit FitProbes(const std::vector<ProbeEquation>& equations,
                   const std::map<Key, double>& minima);

// What the probes make of a transition. The type of the method that was left before is not known:
// as if it was that of the running one.
double OverheadOf(const Probes& probes, const Key& key);

}  // namespace jprof::calibrate
