// Waits while something is recorded that this process has not started.
#pragma once

#include <cstdint>

namespace jprof::record {

// Waits for the end of the time, a signal to this process or the end of a process, of which
// `process` is a pidfd; -1 is none. 0 seconds are without end. Requires an Interruption.
void AwaitEnd(int process, uint64_t seconds);

}  // namespace jprof::record
