// The table of agents. A new agent is a folder with a class of Agent, and a row here.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "cpo/agents/agent.h"

namespace jprof::cpo {

struct AgentRow {
  const AgentText& text;
  std::unique_ptr<Agent> (*make)();
};

// Returns the rows, in the order in which agents are considered for a program.
std::span<const AgentRow> Agents();

// Returns the row with this name, or null.
const AgentRow* FindAgentRow(std::string_view name);

}  // namespace jprof::cpo
