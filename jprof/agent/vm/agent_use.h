// Gives callbacks of the VM and signal handlers access to the agent, because they have no argument
// for it. The agent may be detached at any time, except while an AgentUse of it exists. An AgentUse
// can be made on any thread and in signal handlers, and never waits. Uses may be nested.
#pragma once

namespace jprof::agent {

struct Agent;

class AgentUse {
 public:
  AgentUse();
  ~AgentUse();
  AgentUse(const AgentUse&) = delete;
  AgentUse& operator=(const AgentUse&) = delete;

  // Returns false if there is no agent, or if it is being detached. The caller must then return.
  explicit operator bool() const { return agent_ != nullptr; }
  Agent* operator->() const { return agent_; }
  Agent& operator*() const { return *agent_; }

 private:
  Agent* const agent_;
};

// Between these two calls no agent is removed, as if an AgentUse existed. This is for fork(), whose
// child then finds the agent in a consistent state.
void BeginFork();
void EndFork();

// Makes `agent` the one that AgentUse finds. Requires that there is none yet.
void PublishAgent(Agent* agent);

// Hides the agent from AgentUse and returns it once all uses have ended, or null if there was none.
// Must not be called inside a use.
Agent* WithdrawAgent();

}  // namespace jprof::agent
