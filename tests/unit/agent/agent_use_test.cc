#include "jprof/agent/vm/agent_use.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace jprof::agent {

struct Agent {
  std::atomic<bool> freed = false;
};

namespace {

using namespace std::chrono_literals;

TEST(AgentUse, FindsTheAgentUntilItIsWithdrawn) {
  EXPECT_FALSE(AgentUse());
  Agent agent;
  PublishAgent(&agent);
  {
    const AgentUse use, nested;
    ASSERT_TRUE(use);
    EXPECT_EQ(&*use, &agent);
    EXPECT_EQ(&*nested, &agent);
  }
  EXPECT_EQ(WithdrawAgent(), &agent);
  EXPECT_FALSE(AgentUse());
  EXPECT_EQ(WithdrawAgent(), nullptr);
}

TEST(AgentUse, WithdrawingWaitsForTheUsesInProgress) {
  Agent agent;
  PublishAgent(&agent);
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> seen = 0, after_free = 0;
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i) {
    users.emplace_back([&] {
      while (!stop) {
        const AgentUse use;
        if (!use) continue;
        ++seen;
        std::this_thread::yield();
        after_free += use->freed;
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    while (seen < 1000u * round) std::this_thread::yield();
    EXPECT_EQ(WithdrawAgent(), &agent);
    agent.freed = true;
    std::this_thread::yield();
    agent.freed = false;
    PublishAgent(&agent);
  }
  stop = true;
  for (std::thread& user : users) user.join();
  EXPECT_EQ(after_free, 0u);
  EXPECT_EQ(WithdrawAgent(), &agent);
}

TEST(AgentUse, AForkKeepsTheAgent) {
  Agent agent;
  PublishAgent(&agent);
  BeginFork();
  std::atomic<bool> withdrawn = false;
  std::thread other([&] {
    WithdrawAgent();
    withdrawn = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(withdrawn);
  EndFork();
  other.join();
  EXPECT_TRUE(withdrawn);
}

}  // namespace
}  // namespace jprof::agent
