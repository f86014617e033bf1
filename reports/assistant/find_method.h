// Finds the method that the caller of a tool means.
#pragma once

#include <cstdint>
#include <string>

#include "reports/assistant/call_graph.h"

namespace jprof::reports::assistant {

// Returns the number of the method that `text` names: its whole name, the JVM's, or a part that no
// other name has. Fails if there is none, or several; the message names those that it can be.
Result<uint32_t> FindMethod(const CallGraph& graph, const std::string& text);

}  // namespace jprof::reports::assistant
