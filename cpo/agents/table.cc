#include "cpo/agents/table.h"

#include <algorithm>

#include "cpo/agents/jvm_heap/jvm_heap_agent.h"
#include "cpo/agents/pages/pages_agent.h"

namespace jprof::cpo {
namespace {

const AgentRow kAgents[] = {
    {kPagesText, MakePagesAgent},
    {kJvmHeapText, MakeJvmHeapAgent},
};

}  // namespace

std::span<const AgentRow> Agents() { return kAgents; }

const AgentRow* FindAgentRow(std::string_view name) {
  const auto found = std::ranges::find(
      kAgents, name, [](const AgentRow& row) { return std::string_view(row.text.name); });
  return found == std::end(kAgents) ? nullptr : &*found;
}

}  // namespace jprof::cpo
