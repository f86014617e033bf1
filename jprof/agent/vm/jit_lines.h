// Finds the source lines of jitted code from what JVMTI and HotSpot report with the code.
#pragma once

#include <jvmti.h>

#include <span>
#include <vector>

#include "profile/log/jit_log.h"

namespace jprof::agent {

// Returns the lines of `code`, of which only the address and length are used. `compile_info` has
// HotSpot's description of inlined methods; without it `map` is used. Call this in the event
// that reports the code.
std::vector<profile::JitLine> LinesOf(jvmtiEnv* jvmti, jmethodID method,
                                      const profile::JitCode& code,
                                      std::span<const jvmtiAddrLocationMap> map,
                                      const void* compile_info);

}  // namespace jprof::agent
