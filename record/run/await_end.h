// Waits while something is recorded that this process has not started.
#pragma once

#include <cstdint>
#include <functional>

namespace jprof::record {

// Waits for the end of the time, a signal to this process or the end of a process, of which
// `process` is a pidfd; -1 is none. 0 seconds are without end. Calls `look` meanwhile, about five
// times a second, if there is one. Requires an Interruption.
void AwaitEnd(int process, uint64_t seconds, const std::function<void()>& look = {});

}  // namespace jprof::record
