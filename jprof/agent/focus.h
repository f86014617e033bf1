// Which methods are recorded (CLASSMETHODS=) and, in focus (FOCUS=), are the only ones that run with probes.
#pragma once

#include <jni.h>

#include <string>

#include "common/result.h"
#include "jprof/agent/agent_options.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/focus.h"

namespace jprof::agent {

// Empty: all of them.
engine::MethodTable::Filter MethodFilter(const AgentOptions& options);

// Lets `focus` decide what is compiled with probes. To be called before the probe is installed.
Result<void> InstallFocus(hotspot::Focus* focus, const hotspot::ProbeTargets& targets, hotspot::Vm* vm,
                          const AgentOptions& options, engine::Session* session);

// When the VM is up: what is the JDK's is known now, and where the interpreter is.
void StartFocus(JNIEnv* jni);

}  // namespace jprof::agent
