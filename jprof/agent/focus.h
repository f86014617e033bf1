// Which methods are recorded (CLASSMETHODS=), and which are the only ones that run with probes
// (FOCUS=).
#pragma once

#include <jni.h>

#include "jprof/agent/jdk_packages.h"
#include "jprof/engine/method_table.h"
#include "options/agent_options.h"

namespace jprof::agent {

// Empty: all of them. `packages` outlives the filter, which is called in probes and on compiler
// threads.
engine::MethodTable::Filter MethodFilter(const AgentOptions& options, const JdkPackages& packages);

// When the VM is up: reads the JDK's packages and where the interpreter's code is.
void StartFocus(JNIEnv* jni, JdkPackages& packages);

}  // namespace jprof::agent
