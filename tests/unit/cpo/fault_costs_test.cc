#include "cpo/model/fault_costs.h"

#include <gtest/gtest.h>

#include "tests/unit/cpo/oracle.h"

namespace jprof::cpo {
namespace {

constexpr uint64_t kStart = 16 * kLargePage;

struct Input {
  std::vector<Group> groups;
  std::vector<Placement> placements;
  std::vector<Reference> faults;
};

FaultCosts CostsOf(const Input& input) {
  StoredReferences faults({input.faults});
  const Blocks blocks(input.groups, input.placements);
  return FaultCosts(faults, input.groups, input.placements, blocks);
}

// A fault of each small page of a range, one a nanosecond.
std::vector<Reference> Touched(uint64_t start, uint64_t size, uint64_t from_ns = 0) {
  std::vector<Reference> faults;
  for (uint64_t page = start / kSmallPage; page < (start + size + kSmallPage - 1) / kSmallPage;
       ++page) {
    faults.push_back({std::max(start, page * kSmallPage), from_ns++, true});
  }
  return faults;
}

// As measured on a machine with Linux: 512 MiB are 131,072 faults, or 256 on large pages.
TEST(FaultCosts, HalfAGibibyteIs256LargePages) {
  const uint64_t size = 512u << 20;
  const FaultCosts costs = CostsOf({{{"a"}}, {{kStart, size}}, Touched(kStart, size)});
  EXPECT_EQ(costs.Faults({false}).faults, 131072u);
  EXPECT_EQ(costs.Faults({true}).faults, 256u);
  EXPECT_EQ(costs.Faults({false}).zeroed_bytes, size);
  EXPECT_EQ(costs.Faults({true}).zeroed_bytes, size);
  EXPECT_EQ(costs.Memory({true}).huge_pages, 256u);
  EXPECT_EQ(costs.Memory({true}).bloat_bytes,
            kLargePage - kSmallPage);  // of the last, at its start
  EXPECT_EQ(costs.Memory({false}).huge_pages, 0u);
}

TEST(FaultCosts, OnlyWholeBlocksInsideBecomeLarge) {
  const uint64_t start = kStart + kSmallPage, size = 2 * kLargePage;
  const FaultCosts stays = CostsOf({{{"a"}}, {{start, size}}, Touched(start, size)});
  EXPECT_EQ(stays.Faults({true}).faults, 1u + 512u);
  const FaultCosts moves = CostsOf({{{"a", true, true}}, {{start, size}}, Touched(start, size)});
  EXPECT_EQ(moves.Faults({true}).faults, 2u);
}

TEST(FaultCosts, AMovedTailIsLargeIfItIsLongEnough) {
  const uint64_t size = kLargePage + 10 * kSmallPage;
  for (const auto& [least, faults] :
       {std::pair{uint64_t{1}, 2u}, std::pair{10 * kSmallPage, 2u},
        std::pair{10 * kSmallPage + 1, 11u}, std::pair{kLargePage, 11u}}) {
    const FaultCosts costs =
        CostsOf({{{"a", true, true, least}}, {{kStart, size}}, Touched(kStart, size)});
    EXPECT_EQ(costs.Faults({true}).faults, faults) << least;
  }
}

// Blocks of malloc begin 16 bytes after a page's start.
TEST(FaultCosts, APlacementInTheMiddleOfAPage) {
  const uint64_t start = kStart + 16, size = 2 * kLargePage;
  const FaultCosts costs = CostsOf({{{"a", true, true}}, {{start, size}}, Touched(start, size)});
  EXPECT_EQ(costs.Faults({false}).faults, 1025u);
  EXPECT_EQ(costs.Faults({true}).faults, 3u);
  EXPECT_EQ(costs.Memory({true}).huge_pages, 2u);
}

TEST(FaultCosts, SparseUseIsBloat) {
  std::vector<Reference> faults;
  for (uint64_t block = 0; block < 10; ++block)
    faults.push_back({kStart + block * kLargePage, block, true});
  const FaultCosts costs = CostsOf({{{"a"}}, {{kStart, 10 * kLargePage}}, faults});
  EXPECT_EQ(costs.Faults({true}).faults, 10u);
  EXPECT_EQ(costs.Faults({true}).zeroed_bytes, 10 * kLargePage);
  EXPECT_EQ(costs.Faults({false}).zeroed_bytes, 10 * kSmallPage);
  EXPECT_EQ(costs.Memory({true}).bloat_bytes, 10 * (kLargePage - kSmallPage));
}

TEST(FaultCosts, MemoryThatIsFreedMakesRoom) {
  std::vector<Placement> placements;
  std::vector<Reference> faults;
  for (uint64_t number = 0; number < 5; ++number) {
    placements.push_back({kStart, kLargePage, number * 1000, (number + 1) * 1000});
    for (const Reference& fault : Touched(kStart, kLargePage / 2, number * 1000))
      faults.push_back(fault);
  }
  const FaultCosts costs = CostsOf({{{"a"}}, placements, faults});
  EXPECT_EQ(costs.Faults({true}).faults, 5u);
  EXPECT_EQ(costs.Memory({true}).huge_pages, 1u);
  EXPECT_EQ(costs.Memory({true}).bloat_bytes, kLargePage - kSmallPage);
}

// The first one, half of which is touched, is given back before two others with a page each begin.
TEST(FaultCosts, BloatIsThatOfWhatLives) {
  std::vector<Reference> faults = Touched(kStart, kLargePage / 2);
  faults.push_back({kStart, 1000, true});
  faults.push_back({kStart + kLargePage, 1001, true});
  const FaultCosts costs = CostsOf({{{"a"}},
                                    {{kStart, kLargePage, 0, 900},
                                     {kStart, kLargePage, 1000, kForever},
                                     {kStart + kLargePage, kLargePage, 1000, kForever}},
                                    faults});
  EXPECT_EQ(costs.Memory({true}).huge_pages, 2u);
  EXPECT_EQ(costs.Memory({true}).bloat_bytes, 2 * (kLargePage - kSmallPage));
}

TEST(FaultCosts, ReadsGetThePageOfZerosFirst) {
  const FaultCosts costs =
      CostsOf({{{"a"}},
               {{kStart, kLargePage}},
               {{kStart, 0, false}, {kStart + 1, 1, true}, {kStart + kSmallPage, 2, false}}});
  EXPECT_EQ(costs.Faults({false}).faults, 3u);
  EXPECT_EQ(costs.Faults({false}).zeroed_bytes, kSmallPage);
  EXPECT_EQ(costs.Faults({true}).faults, 2u);
  EXPECT_EQ(costs.Faults({true}).zeroed_bytes, kLargePage);
}

TEST(FaultCosts, AWrittenPageThatFaultsAgainWasGivenBack) {
  const FaultCosts costs =
      CostsOf({{{"a"}}, {{kStart, kLargePage}}, {{kStart, 0, true}, {kStart + 8, 1, true}}});
  EXPECT_EQ(costs.Faults({true}).faults, 2u);
  EXPECT_EQ(costs.Faults({true}).zeroed_bytes, 2 * kLargePage);
  EXPECT_EQ(costs.Memory({true}).huge_pages, 1u);
}

TEST(FaultCosts, WhatIsInNoGroupStaysSmall) {
  const FaultCosts costs = CostsOf(
      {{{"a"}}, {{kStart, kLargePage, 0, kForever}}, Touched(kStart + kLargePage, kLargePage)});
  EXPECT_EQ(costs.Faults({false}).faults, 512u);
  EXPECT_EQ(costs.Faults({true}).faults, 512u);
}

TEST(FaultCosts, GroupsAddUp) {
  std::vector<Reference> faults = Touched(kStart, kLargePage);
  for (const Reference& fault : Touched(kStart + kLargePage, kLargePage, 1000))
    faults.push_back(fault);
  const FaultCosts costs = CostsOf(
      {{{"a"}, {"b"}},
       {{kStart, kLargePage, 0, kForever, 0}, {kStart + kLargePage, kLargePage, 0, kForever, 1}},
       faults});
  EXPECT_EQ(costs.Faults({true, false}).faults, 513u);
  EXPECT_EQ(costs.Faults({true, true}).faults, 2u);
  EXPECT_EQ(costs.Memory({true, true}).huge_pages, 2u);
}

}  // namespace
}  // namespace jprof::cpo
