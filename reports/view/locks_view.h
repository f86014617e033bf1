// Adds the locks of a profile of `jprof locks` to its page.
#pragma once

#include "model/locks/lock_table.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// Adds the member "locks": the table of locks, the contexts in which they are taken, who waits for
// whom, and contradicting orders. Of each list it has as many as a page can hold, the most
// contended first, and the number of those that are left out.
void AddLocks(model::LockTable& table, ViewNames& names, ViewData& data);

}  // namespace jprof::reports
