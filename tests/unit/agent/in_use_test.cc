#include "jprof/agent/vm/in_use.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace jprof::agent {
namespace {

using namespace std::chrono_literals;

struct Part {
  std::atomic<bool> freed = false;
};
struct OtherPart {};

TEST(InUse, FindsAPartUntilItIsHidden) {
  EXPECT_FALSE(InUse<Part>());
  Part part;
  Publish(part);
  {
    const InUse<Part> use, nested;
    ASSERT_TRUE(use);
    EXPECT_EQ(&*use, &part);
    EXPECT_EQ(&*nested, &part);
  }
  Part other;
  Unpublish(other);
  EXPECT_EQ(&*InUse<Part>(), &part);
  Unpublish(part);
  EXPECT_FALSE(InUse<Part>());
}

TEST(InUse, PartsAreFoundByTheirTypesAndHiddenTogether) {
  Part part;
  OtherPart other;
  Publish(part);
  EXPECT_FALSE(InUse<OtherPart>());
  Publish(other);
  EXPECT_EQ(&*InUse<Part>(), &part);
  EXPECT_EQ(&*InUse<OtherPart>(), &other);
  UnpublishAll();
  EXPECT_FALSE(InUse<Part>());
  EXPECT_FALSE(InUse<OtherPart>());
  Publish(other);  // a later agent
  EXPECT_FALSE(InUse<Part>());
  EXPECT_TRUE(InUse<OtherPart>());
  UnpublishAll();
}

TEST(InUse, HidingAllWaitsForTheUsesInProgress) {
  Part part;
  Publish(part);
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> seen = 0, after_free = 0;
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i) {
    users.emplace_back([&] {
      while (!stop) {
        const InUse<Part> use;
        if (!use) continue;
        ++seen;
        std::this_thread::yield();
        after_free += use->freed;
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    while (seen < 1000u * round) std::this_thread::yield();
    UnpublishAll();
    part.freed = true;
    std::this_thread::yield();
    part.freed = false;
    Publish(part);
  }
  stop = true;
  for (std::thread& user : users) user.join();
  EXPECT_EQ(after_free, 0u);
  UnpublishAll();
}

TEST(InUse, AForkKeepsTheParts) {
  Part part;
  Publish(part);
  BeginFork();
  std::atomic<bool> hidden = false;
  std::thread other([&] {
    UnpublishAll();
    hidden = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(hidden);
  EndFork();
  other.join();
  EXPECT_TRUE(hidden);
}

}  // namespace
}  // namespace jprof::agent
