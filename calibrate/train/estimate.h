// From samples to typical values. Pure.
//
// The clock moves in steps (26 ticks on the machine of the design), so one delta says little and
// the smallest says nothing: means of many carry the information. What an interrupt hit is no cost
// of a transition: deltas far above the median are cut off before the mean is taken.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "calibrate/model/key.h"

namespace jprof::calibrate {

struct Typical {
  uint64_t count = 0;  // samples kept
  uint64_t cut = 0;    // samples left out as hit by something else
  double mean = 0;
  double spread = 0;  // standard deviation of those kept
  double minimum = 0;
};

// `granularity`: the clock's step. Kept: what is at most kCutFactor medians and a few steps.
inline constexpr double kCutFactor = 8;
Typical Estimate(std::vector<uint32_t> samples, double granularity);

// Transitions and how often one walk of a shape takes each.
using Counts = std::map<Key, double>;

// One equation: sum over keys of counts[key] * value(key) == total.
struct Equation {
  Counts counts;
  double total = 0;
};

// The values nearest to `start` (in the sense of Kaczmarz's projections) that satisfy the equations
// and stay at or below `ceiling`, where there is one. Equations may disagree (measurements do):
// then a compromise. Keys in no equation keep their start; keys without a start begin at
// `fallback`. Values may be negative: the production handler takes an estimate of its own walk off
// every interval.
struct Problem {
  std::vector<Equation> equations;
  std::map<Key, double> start;
  std::map<Key, double> ceiling;
  double fallback = 0;
};
std::map<Key, double> Solve(const Problem& problem);

// How well values satisfy the equations: sum of the totals explained / sum of the totals.
double Explained(const std::vector<Equation>& equations, const std::map<Key, double>& values);

}  // namespace jprof::calibrate
