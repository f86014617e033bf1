// The source lines of jitted code, from what JVMTI and HotSpot report with the code.
#pragma once

#include <jvmti.h>

#include <span>
#include <vector>

#include "profile/jit_log.h"

namespace jprof::agent {

// Call in the event that reports the code; only its address and length are used. `compile_info` of
// the event has HotSpot's description of inlined methods; without it `map` is used.
std::vector<profile::JitLine> LinesOf(jvmtiEnv* jvmti, jmethodID method,
                                      const profile::JitCode& code,
                                      std::span<const jvmtiAddrLocationMap> map,
                                      const void* compile_info);

}  // namespace jprof::agent
