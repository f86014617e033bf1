// Creates, publishes and removes the agent. These functions are called in Agent_OnLoad and
// Agent_OnAttach, one at a time.
#pragma once

#include <jvmti.h>

#include <string>

#include "common/result.h"
#include "options/agent_options.h"

namespace jprof::agent {

// Sets what counts the calls of a call tree if the user leaves it open, and prints the choice and
// the reason. Without what woven counting requires, the choice is probes.
void ResolveCounter(JavaVM* java, options::AgentOptions& options, bool attached);

// Sets the source of CPU time to POSIX timers if the user leaves it open and the calling thread
// cannot have a perf event, so that all threads of the process use the same source.
void ResolveTimer(options::AgentOptions& options);

// Starts a recording. `jni` belongs to the calling Java thread and is null when the JVM starts.
// Returns the profile's directory, or an empty string if another JVM uses it (ONCE) and nothing is
// recorded. After an error the JVM runs as without an agent.
Result<std::string> StartAgent(JavaVM* java, JNIEnv* jni, options::AgentOptions options);

// Ends the recording of an attached agent, completes the profile and leaves the JVM as it was
// before. Returns the profile's directory. Fails if no agent is attached, or if its probes
// cannot be removed.
Result<std::string> DetachAgent(JNIEnv* jni);

}  // namespace jprof::agent
