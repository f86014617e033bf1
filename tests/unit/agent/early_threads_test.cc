#include "jprof/agent/vm/early_threads.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace jprof::agent {
namespace {

TEST(EarlyThreads, EachIsTakenOnceByItsTid) {
  std::vector<std::unique_ptr<engine::Thread>> states;
  EarlyThreads early;
  early.Reserve(100);
  for (uint32_t tid = 1; tid <= 100; ++tid) {
    states.push_back(std::make_unique<engine::Thread>());
    early.Add(tid * 64, states.back().get());  // all begin at few places of the table
  }
  for (uint32_t tid = 1; tid <= 100; ++tid) {
    EXPECT_EQ(early.Take(tid * 64), states[tid - 1].get());
    EXPECT_EQ(early.Take(tid * 64), nullptr);
    EXPECT_EQ(early.Take(tid * 64 + 1), nullptr);
  }
}

TEST(EarlyThreads, WithoutSpaceNothingIsAddedAndNothingFound) {
  EarlyThreads early;
  EXPECT_EQ(early.Take(1), nullptr);
  engine::Thread thread;
  early.Add(1, &thread);
  EXPECT_EQ(early.Take(1), nullptr);
  early.Reserve(0);
  early.Add(1, &thread);
  early.Add(2, &thread);
  EXPECT_EQ(early.Take(1), &thread);
  EXPECT_EQ(early.Take(2), nullptr);
}

}  // namespace
}  // namespace jprof::agent
