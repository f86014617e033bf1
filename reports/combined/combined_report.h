// Prints a combined profile: exact calls and production times of each calling context.
#pragma once

#include "model/combined/combined.h"
#include "reports/print/options.h"
#include "reports/print/output.h"
#include "reports/quality/head.h"

namespace jprof::reports {

// Prints the report in one of kTreeFormats. Fails if LoadCombined does.
Result<void> PrintCombined(model::Combined& combined, const Options& options, Output& out);
// Prints the report of a view that is loaded already. Orders its tree.
Result<void> PrintCombined(const model::Combined& combined, model::CombinedView& view,
                           const Options& options, Output& out);

// Returns the head of the report: the command, what was counted and sampled, and the time of a run.
Head CombinedHead(const model::Combined& combined, const model::CombinedView& view);

}  // namespace jprof::reports
