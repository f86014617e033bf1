// Makes the data of the page of a heap dump.
#pragma once

#include "reports/heap/heap_report.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// Returns the tree of dominators, cut to rows that a page can hold, the sums by class, package and
// loader, and the suspects.
ViewData ViewOf(const HeapView& view);

}  // namespace jprof::reports
