// Makes the argument of a java launcher that loads the agent.
#pragma once

#include <string>
#include <string_view>

#include "options/tool_options.h"

namespace jprof::options {

// Returns "-agentpath:LIBRARY=OPTIONS" with options as ToString(AgentOptions) writes them. Requires
// a path without '=', which the JVM takes for the end of the path.
inline std::string AgentArgument(std::string_view library, std::string_view options) {
  return std::string(kLoads).append(library).append("=").append(options);
}

}  // namespace jprof::options
