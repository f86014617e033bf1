// The agent `jvm-heap`: collector and sizes of the heap of a java command, from the log of its
// collections. It reads the log, and not the objects that `jprof objects` counts, because the log
// costs the program next to nothing, is the same with every collector, has the pauses themselves,
// and can stay on in the runs that are compared.
#pragma once

#include <memory>

#include "cpo/agents/agent.h"

namespace jprof::cpo {

extern const AgentText kJvmHeapText;

std::unique_ptr<Agent> MakeJvmHeapAgent();

}  // namespace jprof::cpo
