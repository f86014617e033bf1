#ifndef JPROF_AGENT_PROFILE_DIRECTORY_H_
#define JPROF_AGENT_PROFILE_DIRECTORY_H_

#include <string>

#include "common/result.h"
#include "options/agent_options.h"

namespace jprof::agent {

// Makes the profile's directory and returns its path: OUT, or with CHILDREN, where OUT is taken,
// OUT.PID; without OUT jprof-PID.jprof. Returns an empty path where another JVM has OUT and this
// one is not to record (ONLY_IF_FREE). JVMs that start at once with the same options never share a
// directory.
Result<std::string> MakeProfileDirectory(const AgentOptions& options);

}  // namespace jprof::agent

#endif  // JPROF_AGENT_PROFILE_DIRECTORY_H_
