#include "jprof/agent/sampling/virtual_names.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace jprof::agent {
namespace {

TEST(VirtualNames, HasTheLiveThreads) {
  const auto names = std::make_unique<VirtualNames>();
  names->Started(5, "worker");
  names->Started(6, "");
  names->Started(7, "worker");
  EXPECT_STREQ(names->NameOf(5), "worker");
  EXPECT_EQ(names->NameOf(6), nullptr);
  EXPECT_EQ(names->NameOf(5), names->NameOf(7));
  EXPECT_EQ(names->NameOf(0), nullptr);
  names->Ended(5);
  names->Ended(99);
  EXPECT_EQ(names->NameOf(5), nullptr);
  EXPECT_STREQ(names->NameOf(7), "worker");
}

TEST(VirtualNames, HasNoNamesBeyondItsLimit) {
  const auto names = std::make_unique<VirtualNames>();
  for (uint64_t id = 1; id <= 2 * VirtualNames::kMostNames; ++id)
    names->Started(id, "w" + std::to_string(id));
  EXPECT_STREQ(names->NameOf(1), "w1");
  EXPECT_EQ(names->NameOf(2 * VirtualNames::kMostNames), nullptr);
  for (uint64_t id = 1; id <= 200'000; ++id)
    names->Started(id, "w1");  // more than slots: some have none, all are safe
  size_t known = 0;
  for (uint64_t id = 1; id <= 200'000; ++id) known += names->NameOf(id) != nullptr;
  EXPECT_GT(known, 10'000u);
}

TEST(VirtualNames, IsReadDuringUpdates) {
  const auto names = std::make_unique<VirtualNames>();
  std::jthread teller([&] {
    for (uint64_t id = 1; id <= 100'000; ++id) {
      names->Started(id, id % 2 == 0 ? "even" : "odd");
      names->Ended(id);
    }
  });
  for (uint64_t id = 1; id <= 100'000; ++id) {
    const char* name = names->NameOf(id);
    EXPECT_TRUE(name == nullptr || std::string_view(name) == "even" ||
                std::string_view(name) == "odd");
  }
}

}  // namespace
}  // namespace jprof::agent
