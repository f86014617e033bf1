// Adds the columns of a merged profile that show how a context differs between the merged profiles.
#pragma once

#include "reports/tree/tree_report.h"

namespace jprof::reports {

// Adds RUNS, MIN, MEDIAN and MAX as measured: for text, those of the first metric (of calls without
// one); for CSV and JSON, those of calls and of every metric. Adds nothing unless the profile was
// merged. A row without a value represents several contexts, or hidden ones.
void AddSpread(TreeColumns& columns, const NamedTree& tree);

}  // namespace jprof::reports
