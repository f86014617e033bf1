// The columns of a merged profile that show how a context differs between the merged profiles.
#pragma once

#include "reports/tree_report.h"

namespace jprof::reports {

// Text: RUNS, MIN, MEDIAN, MAX of the first metric (of calls without one), as measured. CSV and
// JSON: of calls and of every metric. Adds nothing unless the profile was merged. A row without a
// value represents several contexts, or hidden ones.
void AddSpread(TreeColumns& columns, const NamedTree& tree);

// Their legend; empty unless the profile was merged.
std::string SpreadLegend(const NamedTree& tree);

}  // namespace jprof::reports
