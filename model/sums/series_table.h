// Sums a profile up by method in each interval of its series (profile/series).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/tree/forest.h"

namespace jprof::model {

// A method, with one element for each column.
struct MethodOverTime {
  profile::MethodId method = profile::kRootMethod;  // for the threads themselves
  FrameKind type = FrameKind::kNone;                // the one most calls or samples had, at the end
  std::vector<uint64_t> calls;
  std::vector<double> own;  // of the metric, corrected, in raw units; all 0 if there is none
  uint64_t all_calls = 0;
  double all_own = 0;
};

struct SeriesTable {
  std::vector<double> ends;             // of the columns, in seconds since the recording began
  double begin = 0;                     // of the first column
  size_t first = 0;                     // the number of the snapshot at `begin`; 0 is the beginning
  size_t intervals = 0;                 // that the columns have
  std::vector<MetricTotals> metrics;    // one, or none if calls were counted only
  std::vector<MethodOverTime> methods;  // those with the most of their own, or calls, first
  Names names;

  size_t columns() const { return ends.size(); }
  bool has_metric() const { return !metrics.empty(); }
};

// Loads the methods over time, all threads as one, of the profile or of its window. There are at
// most `most_columns` columns: each has one or several intervals, the last one perhaps fewer. The
// metric is that of the options, else the first one. Fails with kWrongUse if the profile has no
// series.
Result<SeriesTable> LoadSeriesTable(const Source& source, const ForestOptions& options,
                                    size_t most_columns);

}  // namespace jprof::model
