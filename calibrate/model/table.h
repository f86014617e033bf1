// The calibration table: what each kind of transition costs on one machine, per metric, and whom it
// fits. Pure: values in, values out; files are the caller's (FromJson/ToJson make and take the
// text).
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

inline constexpr int kTableVersion = 2;

// Of one key and one metric, in the metric's raw units (clock ticks for time, events for counters).
struct Overhead {
  uint64_t count = 0;   // clean intervals it was learnt from
  double observed = 0;  // typical delta seen (time: mean of clean deltas; counters: minimum)
  double truth = 0;     // of which real work of the transition (measured without probes)
  double overhead = 0;  // observed - truth: what a report removes per interval
  double minimum = 0;   // smallest delta seen
  double spread = 0;    // standard deviation of a single clean delta
  double repeat = 0;    // |difference| of a second, independent training's overhead from this one
  double context = 0;   // how far it differs with the work around it: standard deviation over the
                        // trainer's kernels
};

struct Metric {
  std::string name;  // as in the profile's meta.json
  std::string unit;
  double granularity = 1;  // the step in which the raw metric moves
  double bias =
      0;  // of each overhead: what the training's brackets saw of nothing and left in the intervals
  std::map<Key, Overhead> keys;
  Probes probes;  // of exact metrics: what a report removes; the keys then say how it comes to each
                  // transition
};

// How a lookup was answered; the report says how much weight used which level.
enum class Level { kExact, kNonStatic, kAnyPrevious, kPerEvent, kNone };

struct Found {
  Overhead value;
  Level level = Level::kNone;
};

// Exact key; else static -> non-static; else any previous event; else the smallest overhead known
// for that event; else {0, kNone}.
Found Lookup(const Metric& metric, const Key& key);

// CPU, kernel, JVM build, probe kind, metric set...: name -> value. Equal maps fit.
using Fingerprint = std::map<std::string, std::string>;

// The same overheads for a recording whose brackets left `bias` per interval instead.
Metric Rebased(Metric metric, double bias);

// The names of the parts that differ, each as "part: table has A, profile has B"; empty = fits.
std::vector<std::string> Differences(const Fingerprint& table, const Fingerprint& profile);

struct Table {
  Fingerprint fingerprint;
  std::string made_at;  // ISO 8601
  std::vector<Metric> metrics;

  const Metric* Find(std::string_view metric_name) const;
};

Result<Table> FromJson(std::string_view text);
std::string ToJson(const Table& table);

}  // namespace jprof::calibrate
