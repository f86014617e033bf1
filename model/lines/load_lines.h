// Loads the source lines of a profile, or of the runs of a combined one.
#pragma once

#include <optional>
#include <vector>

#include "common/result.h"
#include "model/combined/combined.h"
#include "model/lines/line_sums.h"
#include "model/tree/forest.h"
#include "model/tree/source.h"

namespace jprof::model {

struct Lines {
  Source* source = nullptr;          // the first run with values, or else the first
  std::optional<Forest> forest;      // of `source`
  std::vector<MethodLines> methods;  // those with lines, in the order of LineSums::Take
  double whole = 0;                  // sum of `metric`, raw
  bool has_calls = false;
  std::optional<MetricTotals> metric;  // of the values; empty if there are none
};

// Returns whether the profile was recorded with lines, or a run of the combined one.
bool HasSites(const Source& source);
bool HasSites(const Combined& combined);

// Fails as LoadForest does, or if nothing was recorded with lines. Uses of the options only the
// metric. Of a combined profile it has the values of the sampled runs, and the calls of the counted
// one.
Result<Lines> LoadLines(Source& source, const ForestOptions& options);
Result<Lines> LoadLines(Combined& combined, const ForestOptions& options);

}  // namespace jprof::model
