// Prints a combined profile: exact calls and production times of each calling context.
#pragma once

#include "model/combined/combined.h"
#include "reports/print/options.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Prints the report in one of kTreeFormats. Fails if LoadCombined does.
Result<void> PrintCombined(model::Combined& combined, const Options& options, Output& out);

}  // namespace jprof::reports
