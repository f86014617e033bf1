// Prints the HTML view: one self-contained page with the contents of the reports. The page
// itself is built from the TypeScript in this folder; docs/VIEW.md describes it and the
// format of its data.
#pragma once

#include "model/open/open.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Prints the page of what was opened. Fails if it cannot be read or has nothing to show.
Result<void> PrintView(model::Input& input, Output& out);

// Prints two profiles, context by context. Fails if CompareTwo does, or if they have no unit in
// common.
Result<void> PrintView(model::Source& before, model::Source& after, Output& out);

}  // namespace jprof::reports
