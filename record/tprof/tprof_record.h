// Makes a tprof recording in one directory: samples, changes of address spaces during sampling, and
// everything that is required to resolve names later.
#pragma once

#include "common/result.h"
#include "record/tprof/tprof_plan.h"

namespace jprof::record {

// Records until the command ends, the duration has passed, or SIGINT or SIGTERM arrives. Returns
// the command's exit status, or 0 if there is none or the recording was interrupted.
Result<int> RecordTprof(const TprofPlan& plan);

}  // namespace jprof::record
