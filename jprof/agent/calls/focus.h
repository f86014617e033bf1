// Selects the methods that are recorded (CLASSMETHODS=) and those that are compiled with probes
// (FOCUS=).
#pragma once

#include <jni.h>

#include "jprof/agent/vm/jdk_packages.h"
#include "jprof/engine/method_table.h"
#include "options/agent_options.h"

namespace jprof::agent {

// Returns a filter of the recorded methods, which is empty if all are recorded. `packages` must
// outlive the filter, which probes and compiler threads call.
engine::MethodTable::Filter MethodFilter(const options::AgentOptions& options,
                                         const JdkPackages& packages);

// Reads the JDK's packages and the address range of the interpreter. Call this in VMInit.
void StartFocus(JNIEnv* jni, JdkPackages& packages);

}  // namespace jprof::agent
