// The calibration table: the overhead of each kind of transition on one machine, per metric, and
// the fingerprint of the recordings that it fits. Pure: the caller reads and writes the files whose
// text FromJson and ToJson convert.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/model/key.h"
#include "calibrate/model/probes.h"
#include "common/result.h"

namespace jprof::calibrate {

// Tables since version 2 are read. Version 3 added the ends of what a probe can cost, version 4 the
// numbers of instructions.
inline constexpr int kTableVersion = 4;
inline constexpr int kOldestTableVersion = 2;
inline constexpr int kVersionWithEnds = 3;

// The overhead of one key and one metric, in the metric's raw units (clock ticks for time, events
// for counters).
struct Overhead {
  uint64_t count = 0;   // clean intervals that it was computed from
  double observed = 0;  // typical delta (time: mean of clean deltas; counters: minimum)
  double truth = 0;     // the transition's own work in it (measured without probes)
  double overhead = 0;  // observed - truth, which a report subtracts per interval
  double minimum = 0;   // smallest delta
  double spread = 0;    // standard deviation of a single clean delta
  double repeat = 0;    // |difference| of a second, independent training's overhead from this one
  double context = 0;   // variation with the surrounding work: standard deviation over the
                        // trainer's kernels
  // How far the overhead can be from the truth in production. It is below if the processor executes
  // the probe in the gaps of the program, and above if there are no gaps, or by lost inlining.
  double less = 0;
  double more = 0;
  // The least number of instructions that the transition itself takes, without probes, as traced,
  // or 0 if unknown.
  double instructions = 0;

  // Returns one standard deviation of what no number of events averages away. The ends count as
  // those of an interval of 95 %.
  double Systematic() const;
};

struct Metric {
  std::string name;  // as in the profile's meta.json
  std::string unit;
  double granularity = 1;  // the step in which the raw metric moves
  double bias = 0;         // timer overhead of the training that each overhead includes
  std::map<Key, Overhead> keys;
  Probes probes;  // for exact metrics, what a report subtracts; keys then show it by transition
};

// States how a lookup found its overhead. Reports print the share of each level.
enum class Level { kExact, kNonStatic, kAnyPrevious, kPerEvent, kNone };

struct Found {
  Overhead value;
  Level level = Level::kNone;
};

// Looks up the exact key, else static -> non-static, else any previous event, else the smallest
// overhead of that event. Returns {0, kNone} if there is none.
Found Lookup(const Metric& metric, const Key& key);

// Maps the names of CPU, kernel, JVM build, probe kind, metric set... to their values. A table fits
// a recording if their maps are equal.
using Fingerprint = std::map<std::string, std::string>;

// Returns the same overheads for a recording whose timer overhead per interval is `bias`.
Metric Rebased(Metric metric, double bias);

// No processor retires more instructions than these in a tick of its time stamp counter: at most 6
// per cycle are retired, at no more than twice the counter's rate.
inline constexpr double kMostInstructionsPerTick = 12;

// Adds the numbers of instructions of the transitions (their `truth` in `counted`, a metric of
// instructions) to a metric of time, whose own work is at least the time that they take. Returns
// the number of overheads that were lowered for that reason.
int AddInstructions(const Metric& counted, Metric& time);

// Returns the parts that differ, each as "part: table has A, profile has B", or none.
std::vector<std::string> Differences(const Fingerprint& table, const Fingerprint& profile);

// Returns the command that trains a table for such a recording.
std::string TrainingCommand(const Fingerprint& fingerprint);

struct Table {
  Fingerprint fingerprint;
  std::string made_at;          // ISO 8601
  int version = kTableVersion;  // of the file
  std::vector<Metric> metrics;

  const Metric* Find(std::string_view metric_name) const;
};

Result<Table> FromJson(std::string_view text);
std::string ToJson(const Table& table);

}  // namespace jprof::calibrate
