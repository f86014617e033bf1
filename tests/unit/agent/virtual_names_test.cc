#include "jprof/agent/virtual_names.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace jprof::agent {
namespace {

TEST(VirtualNames, KnowsThoseThatLive) {
  const auto names = std::make_unique<VirtualNames>();
  names->Started(5, "worker");
  names->Started(6, "");
  names->Started(7, "worker");
  EXPECT_STREQ(names->Of(5), "worker");
  EXPECT_EQ(names->Of(6), nullptr);
  EXPECT_EQ(names->Of(5), names->Of(7));
  EXPECT_EQ(names->Of(0), nullptr);
  names->Ended(5);
  names->Ended(99);
  EXPECT_EQ(names->Of(5), nullptr);
  EXPECT_STREQ(names->Of(7), "worker");
}

TEST(VirtualNames, BeyondItsRoomThereAreNone) {
  const auto names = std::make_unique<VirtualNames>();
  for (uint64_t id = 1; id <= 2 * VirtualNames::kMostNames; ++id)
    names->Started(id, "w" + std::to_string(id));
  EXPECT_STREQ(names->Of(1), "w1");
  EXPECT_EQ(names->Of(2 * VirtualNames::kMostNames), nullptr);
  for (uint64_t id = 1; id <= 200'000; ++id)
    names->Started(id, "w1");  // more than slots: some have none, all are safe
  size_t known = 0;
  for (uint64_t id = 1; id <= 200'000; ++id) known += names->Of(id) != nullptr;
  EXPECT_GT(known, 10'000u);
}

TEST(VirtualNames, IsAskedWhileItIsTold) {
  const auto names = std::make_unique<VirtualNames>();
  std::jthread teller([&] {
    for (uint64_t id = 1; id <= 100'000; ++id) {
      names->Started(id, id % 2 == 0 ? "even" : "odd");
      names->Ended(id);
    }
  });
  for (uint64_t id = 1; id <= 100'000; ++id) {
    const char* name = names->Of(id);
    EXPECT_TRUE(name == nullptr || std::string_view(name) == "even" ||
                std::string_view(name) == "odd");
  }
}

}  // namespace
}  // namespace jprof::agent
