// Describes the run for exports.
#pragma once

#include "reports/export/context_tree.h"

namespace jprof::reports {

// Returns the metadata of meta.json, and notes on what the profile has lost. Call it when
// everything was read: damages are found while reading.
RunDescription DescribeRun(const Source& source);

}  // namespace jprof::reports
