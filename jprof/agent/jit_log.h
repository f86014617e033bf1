// The option TPROF: writes the log of jitted code (profile/jit_log.h) from JVMTI's events, so that
// a sampler outside can name Java code by address and time. A JVMTI environment of its own:
// independent of what else the agent records.
#pragma once

#include <jvmti.h>

#include "common/result.h"

namespace jprof::agent {

// In Agent_OnLoad, once. Makes the log in that directory; `code`: with the instructions. Error:
// there is no log, and nothing has been changed in the VM.
Result<void> StartJitLog(JavaVM* java, int directory_fd, bool code);

}  // namespace jprof::agent
