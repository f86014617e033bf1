// The agent `pages`: which groups of a program's memory to put on large pages. In the measured run
// libjprof-pages.so logs where the groups are, the kernel's events report every page fault, and the
// instruction tracer records references in bursts. The model of cpo/model predicts what each group
// saves. In later runs the library advises the kernel.
#pragma once

#include <memory>

#include "cpo/agents/agent.h"

namespace jprof::cpo {

extern const AgentText kPagesText;

std::unique_ptr<Agent> MakePagesAgent();

}  // namespace jprof::cpo
