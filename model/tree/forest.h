// Loads, corrects and names the call tree of a profile, which log-rt, methods and scs print.
#pragma once

#include <string>
#include <vector>

#include "calibrate/model/bound.h"
#include "model/tree/names.h"
#include "model/tree/rows.h"
#include "model/tree/source.h"
#include "model/tree/thread_groups.h"
#include "profile/merge/spread.h"

namespace jprof::model {

// A metric and the result of its correction. Sums are in raw units, over the whole profile.
struct MetricTotals {
  profile::Metric info;
  bool calibrated = false;
  double granularity = 1;
  uint32_t running_permille =
      1000;  // least part of the time that a thread had it on a counter; sums are scaled
  double raw = 0;
  double adjust = 0;
  double error = 0;           // of the sum of BASE
  double estimate_error = 0;  // the part of it that comes from intervals that were not timed
  std::array<double, calibrate::kLevels> events = {};  // intervals by the exactness of their key
  uint64_t below_zero = 0;                             // rows whose BASE is below 0
  double residue = 0;                                  // their sum, which is kept in every total
  uint64_t within_error = 0;  // rows that were called and whose BASE is not above their error
  calibrate::Bounds bounds;   // types whose overheads the profile itself showed to be too large
  size_t counts = kNoCounts;  // the column with the number of samples behind a sampled one

  static constexpr size_t kNoCounts = ~size_t{0};

  double base() const { return raw - adjust; }  // the sum of BASE, which shares refer to
};

// Converts a raw value to the metric's unit.
inline double InUnit(const MetricTotals& column, double raw) { return raw * column.info.scale; }

struct Forest {
  Rows rows;
  Names names;
  ThreadGroups groups;  // whose trees are one
  std::vector<MetricTotals> metrics;
  uint64_t calls = 0;    // of all rows
  uint64_t samples = 0;  // of all rows and events
  // Describes how the contexts of a merged profile differ between its profiles, by record. It is
  // empty for other profiles.
  profile::Spread spread;
  std::vector<size_t> spread_columns;  // the column of each metric in `spread`
  // How long calls of watched methods took (distributions.h), of the rows
  // Rows::row_of_distribution. Several may be of one row.
  std::vector<profile::Distribution> distributions;

  size_t metric_count() const { return metrics.size(); }
  // Returns the threads whose trees the root's is, or null if each thread is by itself.
  const ThreadGroup* GroupOf(NodeIndex root) const {
    if (groups.of_thread.empty()) return nullptr;
    return &groups.groups[groups.of_thread[IndexOf(rows.rows[root].thread)]];
  }
};

// Fails if the profile has no call tree (it is a trace), or no metric of the name that the
// options ask for.
Result<Forest> LoadForest(Source& source, const ForestOptions& options);

// Sets the error of each cell of a sampled column to about one standard deviation, that of a
// Poisson count. `cells` has one cell per column.
void SetSamplingErrors(const std::vector<MetricTotals>& columns, Cell* cells);

// Returns whether a row's own value of the first metric is lost in its correction (it is below 0,
// or its interval is wider than it), although its raw value or its calls are `percent` of the whole
// or more: --min-percent does not hide such a row.
bool IsLargeUnknown(const Forest& forest, const Cell& own, uint64_t calls, double percent);

// Returns why a share of the first metric is above 100 %; "" if `part` is not above the whole.
std::string AboveWholeText(const Forest& forest, double part);

}  // namespace jprof::model
