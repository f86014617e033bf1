// Prints the locks of a profile of `jprof locks` in the layout of JLM (docs/LOCKS.md).
#pragma once

#include "model/tree/source.h"
#include "reports/print/options.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Fails (wrong use) if the profile is not one of locks.
Result<void> PrintLogJlm(model::Source& source, const Options& options, Output& out);

}  // namespace jprof::reports
