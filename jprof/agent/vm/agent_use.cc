#include "jprof/agent/vm/agent_use.h"

#include <time.h>

#include <atomic>

namespace jprof::agent {
namespace {

// These are the agent's only globals.
std::atomic<Agent*> published = nullptr;
std::atomic<uint32_t> uses = 0;

Agent* BeginUse() {
  uses.fetch_add(1);  // first: WithdrawAgent sees this use, or this use sees no agent
  return published.load();
}

}  // namespace

AgentUse::AgentUse() : agent_(BeginUse()) {}

AgentUse::~AgentUse() { uses.fetch_sub(1, std::memory_order_release); }

void BeginFork() { uses.fetch_add(1); }
void EndFork() { uses.fetch_sub(1, std::memory_order_release); }

void PublishAgent(Agent* agent) { published.store(agent); }

Agent* WithdrawAgent() {
  Agent* const agent = published.exchange(nullptr);
  constexpr timespec kPause = {0, 1'000'000};
  while (uses.load() != 0) nanosleep(&kPause, nullptr);
  return agent;
}

}  // namespace jprof::agent
