// Access to the agent for callbacks of the VM and signal handlers, which have no argument for it.
// The agent may be detached at any time, except while an AgentUse of it exists. Callable on any
// thread and in signal handlers; never waits. Uses may be nested.
#pragma once

namespace jprof::agent {

struct Agent;

class AgentUse {
 public:
  AgentUse();
  ~AgentUse();
  AgentUse(const AgentUse&) = delete;
  AgentUse& operator=(const AgentUse&) = delete;

  // False: there is no agent, or it is being detached. The caller must return.
  explicit operator bool() const { return agent_ != nullptr; }
  Agent* operator->() const { return agent_; }
  Agent& operator*() const { return *agent_; }

 private:
  Agent* const agent_;
};

// Between the two calls no agent is removed, as if an AgentUse existed: for fork(), whose child
// then finds the agent in a consistent state.
void BeginFork();
void EndFork();

// Makes `agent` the one that AgentUse finds. Requires that there is none.
void PublishAgent(Agent* agent);

// Nothing finds the agent from now on. Returns it once all uses have ended; null: there was none.
// Must not be called inside a use.
Agent* WithdrawAgent();

}  // namespace jprof::agent
