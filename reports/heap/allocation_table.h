// A heap dump beside a profile of `jprof objects`: where the objects of its classes were allocated.
#pragma once

#include "common/result.h"
#include "model/tree/forest.h"
#include "reports/heap/heap_report.h"

namespace jprof::reports {

// Prints the classes, those with most bytes in the dump first: how many objects of each the
// profile has counted, and the methods that allocated them. For one class, `only`
// ("java.lang.String") if it is not empty, prints the whole calling contexts. Fails if the profile
// has no allocated objects, or the dump none of this class.
Result<void> PrintAllocations(const HeapView& view, model::Forest& profile, const std::string& only,
                              const HeapOptions& options, Output& out);

}  // namespace jprof::reports
