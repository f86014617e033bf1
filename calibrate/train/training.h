// One calibration from end to end: runs the trainers without the agent (what a walk truly takes),
// under it (what the tree says a walk takes) and under it with `train` (what single intervals
// take), twice, and makes a table.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/model/table.h"
#include "calibrate/train/observation.h"
#include "calibrate/train/probe_fit.h"
#include "common/result.h"

namespace jprof::calibrate {

struct Plan {
  std::filesystem::path java;
  std::filesystem::path agent;     // libjprof.so
  std::filesystem::path trainers;  // trainers.jar
  std::filesystem::path natives;   // libjprof_trainer.so
  std::filesystem::path work;      // an existing directory; profiles and logs go here
  std::string metrics = "time";    // as the agent takes them: a+b
  bool quick = false;              // fewer walks and repetitions: a coarser table
  std::function<void(int done, int total, std::string_view step)> progress;  // may be empty
  std::function<bool()> interrupted;  // true: kill the trainer and give up; may be empty
};

struct Trained {
  Table table;
  // The last training's kernels corrected with the first one's table, against the untraced ones:
  // what is left per event, typically and from kernel to kernel. The honest measure of the table.
  // For time as the JVM compiles them; for counters in C1, because C2 has no intrinsics under
  // probes, and then it is not the same program.
  struct Check {
    std::string metric, unit;
    double left = 0, spread = 0;
  };
  std::vector<Check> checks;  // empty: the plan has no kernels
  double scale = 1;           // ns per tick
};

Result<Trained> Train(const Plan& plan);

// --- The steps, pure; public for the tests ---

// What the runs of one training found: of the shapes, and of the kernels by the compile state they
// ran in.
struct Walks {
  Truth truth;  // of shapes with the driver
  std::map<ShapeName, Walk> walks;
};
struct Evidence : Walks {
  Samples samples;
  std::map<char, Walks> kernels;
};
struct MetricFacts {
  std::string name, unit;
  size_t index = 0;  // in the profile
  bool is_time = true;
  double scale = 1;  // raw * scale = unit
  double granularity = 1;
  double bracket_ticks = 0;  // what a bracket of the handler sees of nothing
  double bias = 0;           // of which the recording leaves so much in each interval
  size_t truth = 0;          // where the trainers' own output has it
  double RawTruth(const std::vector<double>& truths) const {
    return truths[truth] / (is_time ? scale : 1);
  }
};

// Robust: the median, and the standard deviation of a normal distribution with the same median of
// absolute deviations.
struct Centre {
  double median = 0, deviation = 0;
};
Centre CentreOf(std::vector<double> values);

// What each shape costs more under the profiler than its empty one does.
std::vector<Equation> SlopeEquations(const Evidence& evidence, const MetricFacts& facts);

std::vector<ProbeEquation> ProbeEquations(const Evidence& evidence,
                                          const MetricFacts& facts);  // of counters

// What the profiler adds to an event of each kernel beyond what the table says, raw units.
std::vector<double> LeftPerEvent(const Walks& kernels, const Metric& metric,
                                 const MetricFacts& facts);

Metric MakeMetric(const Evidence& evidence, const MetricFacts& facts);

// The mean of two trainings; `repeat` is their difference. Keys that only one has are kept with
// repeat = overhead.
Metric Combine(const Metric& first, const Metric& second);

}  // namespace jprof::calibrate
