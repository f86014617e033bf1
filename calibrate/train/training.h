// Performs one complete calibration. Each of two trainings runs the trainers without the agent (the
// true cost of a walk), with it (the cost of a walk in the tree) and with it and `train` (the cost
// of single intervals). The table is the mean of the two.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/model/table.h"
#include "calibrate/train/observation.h"
#include "calibrate/train/plan.h"
#include "calibrate/train/probe_fit.h"
#include "common/result.h"

namespace jprof::calibrate {

struct Trained {
  Table table;
  // The residue per event of the last training's kernels, corrected with the first training's table
  // and compared with the untraced ones: median and spread over the kernels. It measures the
  // quality of the table. For time, the JVM compiles the kernels by its own policy; for counters,
  // in C1 only, because C2 uses no intrinsics with probes and would execute a different program.
  struct Check {
    std::string metric, unit;
    double left = 0, spread = 0;
  };
  std::vector<Check> checks;  // empty if the plan has no kernels
  double scale = 1;           // ns per tick
};

Result<Trained> Train(const Plan& plan);

// --- The steps are pure. They are public for the tests. ---

// The results of the runs of one training, of the shapes or of the kernels in one compile state.
struct Walks {
  Truth truth;    // by shape, including the driver
  Truth inlined;  // the same of kernels with inlining; empty if that was not run
  std::map<ShapeName, Walk> walks;
};
struct Evidence : Walks {
  Samples samples;
  std::map<char, Walks> kernels;
};
struct MetricMetadata {
  std::string name, unit;
  size_t index = 0;  // in the profile
  bool is_time = true;
  double scale = 1;  // raw * scale = unit
  double granularity = 1;
  double bracket_ticks = 0;  // timer overhead of a timed event in the handler
  double bias = 0;           // the part of it that remains in each interval of the recording
  size_t truth = 0;          // index in the trainers' own output
  double RawTruth(const std::vector<double>& truths) const {
    return truths[truth] / (is_time ? scale : 1);
  }
};

// Robust statistics: the median, and the standard deviation of a normal distribution with the same
// median absolute deviation.
struct Centre {
  double median = 0, deviation = 0;
};
Centre CentreOf(std::vector<double> values);

// Returns equations of the cost that the profiler adds to each shape, less what it adds to the
// empty one.
std::vector<Equation> SlopeEquations(const Evidence& evidence, const MetricMetadata& metadata);

std::vector<ProbeEquation> ProbeEquations(const Evidence& evidence,
                                          const MetricMetadata& metadata);  // of counters

// Returns what the profiler adds to an event of each ordinary kernel beyond the table's overhead,
// in raw units.
std::vector<double> LeftPerEvent(const Walks& kernels, const Metric& metric,
                                 const MetricMetadata& metadata);

Metric MakeMetric(const Evidence& evidence, const MetricMetadata& metadata);

// Returns the mean of two trainings; `repeat` is their difference. Keys that only one has are kept
// with repeat = overhead.
Metric Combine(const Metric& first, const Metric& second);

}  // namespace jprof::calibrate
