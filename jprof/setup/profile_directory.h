#pragma once

#include <string>

#include "common/result.h"
#include "options/agent_options.h"

namespace jprof::setup {

// Creates the profile's directory and returns its path:
// - OUT, or jprof-PID.jprof without OUT,
// - with CHILDREN=all, OUT/NAME-PID, where NAME is the main class or jar,
// - with CHILDREN=first or ONCE, an empty path if OUT exists: this JVM is not recorded.
//
// With CHILDREN=all or first, a JVM that only answers a question (java -version) has an empty path.
//
// JVMs that start at the same time with the same options never share a directory.
Result<std::string> MakeProfileDirectory(const options::AgentOptions& options);

// Returns the path from the root, without symbolic links, if that can be determined, else `path`.
std::string FullPath(const std::string& path);

}  // namespace jprof::setup
