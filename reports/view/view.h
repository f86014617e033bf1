// Prints the HTML view of two profiles. docs/VIEW.md describes the page and the format of its data;
// the page of one input is listed with its report (reports/report_list.h).
#pragma once

#include "model/tree/source.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Prints two profiles, context by context. Fails if CompareTwo does, or if they have no unit in
// common.
Result<void> PrintView(model::Source& before, model::Source& after, Output& out);

}  // namespace jprof::reports
