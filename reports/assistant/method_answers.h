// Prints what assistants ask about methods: the hottest ones, and who calls one or is called by it.
#pragma once

#include <string_view>

#include "reports/assistant/call_graph.h"
#include "reports/print/formats.h"

namespace jprof::reports::assistant {

// Prints at most `limit` methods with the largest values of their own, with all they call, or the
// most calls. `by` is one of kHottestBy.
inline constexpr std::string_view kHottestBy[] = {"self", "cumulative", "calls"};
void PrintHottestMethods(const CallGraph& graph, std::string_view by, size_t limit, Format format,
                         Output& out);

// Prints at most `limit` callers or callees of the method with this number in CallGraph::names.
enum class Direction { kCallers, kCallees };
void PrintNeighbours(const CallGraph& graph, uint32_t method, Direction direction, size_t limit,
                     Format format, Output& out);

}  // namespace jprof::reports::assistant
