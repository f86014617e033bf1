// Which methods are recorded (CLASSMETHODS=) and, in focus (FOCUS=), are the only ones that run
// with probes.
#pragma once

#include <jni.h>

#include "jprof/engine/method_table.h"
#include "options/agent_options.h"

namespace jprof::agent {

// Empty: all of them.
engine::MethodTable::Filter MethodFilter(const AgentOptions& options);

// When the VM is up: what is the JDK's is known now, and where the interpreter is.
void StartFocus(JNIEnv* jni);

}  // namespace jprof::agent
