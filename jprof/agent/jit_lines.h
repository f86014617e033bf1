// The source lines of jitted code, from what JVMTI and HotSpot report with the code.
#pragma once

#include <jvmti.h>

#include <span>
#include <vector>

#include "profile/jit_log.h"

namespace jprof::agent {

// Call in the event of the code, of which only the address and the length are used. `compile_info`
// is the event's: HotSpot describes inlined methods there; without it `map` is used.
std::vector<profile::JitLine> LinesOf(jvmtiEnv* jvmti, jmethodID method,
                                      const profile::JitCode& code,
                                      std::span<const jvmtiAddrLocationMap> map,
                                      const void* compile_info);

}  // namespace jprof::agent
