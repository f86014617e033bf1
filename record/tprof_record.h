// Makes a tprof recording: samples, the changes of address spaces meanwhile, and everything that
// names need later, in one directory.
#pragma once

#include "common/result.h"
#include "record/tprof_plan.h"

namespace jprof::record {

// Records until the command ends, the duration is over, or SIGINT or SIGTERM arrives. Returns the
// command's exit status; 0 if there is none or the recording was interrupted.
Result<int> RecordTprof(const TprofPlan& plan);

}  // namespace jprof::record
