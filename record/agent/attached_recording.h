// Records a JVM that runs already: `jprof scs --pid PID` and the other recording commands.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "record/agent/typed_options.h"

namespace jprof::record {

// Attaches the agent to the process, waits, detaches it and prints the summary of the profile.
// Records for `duration` seconds, unless the agent has a duration; 0 is until Ctrl-C or the JVM's
// end. Returns the exit status, which is 2 if a filter matched nothing.
Result<int> RecordRunning(uint32_t pid, uint64_t duration, const TypedOptions& typed);

}  // namespace jprof::record
