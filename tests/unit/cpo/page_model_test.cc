#include "cpo/model/page_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cpo/model/jackknife.h"
#include "tests/unit/cpo/oracle.h"

namespace jprof::cpo {
namespace {

constexpr uint64_t kGroupSize = 64 * kLargePage;  // 32,768 small pages

uint64_t StartOf(uint32_t group) { return (uint64_t{group} + 1) * 1024 * kLargePage; }

// Groups of 128 MiB, of which `frequencies[group]` references of each 16 are random ones, each
// burst by its own seed.
struct Program {
  std::vector<Group> groups;
  std::vector<Placement> placements;
  std::vector<std::vector<Reference>> bursts;
  std::vector<Reference> faults;
};

Program RandomProgram(const std::vector<int>& frequencies, size_t bursts = 4,
                      size_t references = 20'000) {
  Program program;
  for (uint32_t group = 0; group < frequencies.size(); ++group) {
    program.groups.push_back({fmt::format("group {}", group)});
    program.placements.push_back({StartOf(group), kGroupSize, 0, kForever, group});
  }
  uint64_t state = 11, time = 0;
  for (size_t burst = 0; burst < bursts; ++burst) {
    std::vector<uint64_t> addresses;
    while (addresses.size() < references) {
      auto chosen = static_cast<int>(NextRandom(state) % 16);
      uint32_t group = 0;
      while (group < frequencies.size() && chosen >= frequencies[group])
        chosen -= frequencies[group++];
      if (group == frequencies.size()) continue;
      addresses.push_back(StartOf(group) + NextRandom(state) % kGroupSize);
    }
    program.bursts.push_back(oracle::ReferencesTo(addresses, time));
    time += references;
  }
  for (uint32_t group = 0; group < frequencies.size(); ++group) {
    for (uint64_t page = 0; page < 4096u << group; ++page) {
      program.faults.push_back({StartOf(group) + page * kSmallPage, time++, true});
    }
  }
  return program;
}

Result<PageModel> Load(const Program& program, const ModelOptions& options = {}) {
  StoredReferences references(program.bursts), faults({program.faults});
  return PageModel::Load(program.groups, program.placements, references, faults, options);
}

TEST(PageModel, NoGroupIsZeroAndAllAreAHundred) {
  const auto model = Load(RandomProgram({8, 4, 2})).value();
  EXPECT_EQ(model.none().pmb_walks.value, 0);
  EXPECT_EQ(model.none().pmb_faults.value, 0);
  EXPECT_EQ(model.all().pmb_walks.value, 100);
  EXPECT_EQ(model.all().pmb_faults.value, 100);
  EXPECT_EQ(model.none().pmb_walks.error.value(), 0);
  EXPECT_NEAR(model.all().pmb_walks.error.value(), 0, 1e-9);
  EXPECT_EQ(model.references(), 80'000u);
  EXPECT_EQ(model.all().groups, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_GT(model.none().walks, 70'000u);
  EXPECT_LT(model.all().walks, 300u);  // 192 pages of 2 MiB
}

// References are nearly all walks on small pages, so that PMB is the share of references.
TEST(PageModel, TheShareOfReferencesIsTheShareOfTheBenefit) {
  const auto model = Load(RandomProgram({8, 4, 2, 1})).value();
  const auto alone = model.Alone();
  ASSERT_EQ(alone.size(), 4u);
  const double expected[] = {8 / 15.0, 4 / 15.0, 2 / 15.0, 1 / 15.0};
  for (uint32_t group = 0; group < 4; ++group) {
    EXPECT_EQ(alone[group].groups, std::vector<uint32_t>{group});
    EXPECT_NEAR(alone[group].pmb_walks.value, 100 * expected[group], 2) << group;
    EXPECT_GT(alone[group].pmb_walks.error.value(), 0);
    EXPECT_LT(alone[group].pmb_walks.error.value(), 1);
  }
}

TEST(PageModel, GreedySetsGrowToAll) {
  const auto model = Load(RandomProgram({1, 8, 2, 4})).value();
  const auto sets = model.Greedy();
  ASSERT_EQ(sets.size(), 4u);
  EXPECT_EQ(sets[0].groups, (std::vector<uint32_t>{1}));
  EXPECT_EQ(sets[1].groups, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(sets[3].groups, (std::vector<uint32_t>{1, 3, 2, 0}));
  EXPECT_EQ(sets[3].walks, model.all().walks);
  EXPECT_EQ(sets[3].pmb_walks.value, 100);
  for (size_t set = 1; set < sets.size(); ++set) EXPECT_LT(sets[set].walks, sets[set - 1].walks);
}

TEST(PageModel, GreedyTriesOnlySoMany) {
  ModelOptions options;
  options.most_greedy = 2;
  const auto sets = Load(RandomProgram({1, 8, 2, 4}), options).value().Greedy();
  ASSERT_EQ(sets.size(), 4u);
  EXPECT_EQ(sets[3].groups, (std::vector<uint32_t>{1, 3, 2, 0}));
}

// Group g has 4096 << g faults, of 8 << g blocks.
TEST(PageModel, FaultsHaveTheirOwnPercentage) {
  ModelOptions options;
  options.objective = Objective::kFaults;
  const auto model = Load(RandomProgram({8, 4, 2}), options).value();
  EXPECT_EQ(model.none().faults, 7u * 4096);
  EXPECT_EQ(model.all().faults, 7u * 8);
  const auto alone = model.Alone();
  EXPECT_EQ(alone[0].groups, std::vector<uint32_t>{2});
  EXPECT_NEAR(alone[0].pmb_faults.value, 400 / 7.0, 1e-9);
  EXPECT_EQ(alone[0].pmb_faults.error, 0.0);
  EXPECT_EQ(alone[0].huge_pages, 32u);
}

TEST(PageModel, WithinALimitTheBenefitOfAPageDecides) {
  const auto model = Load(RandomProgram({4, 8, 1})).value();
  const auto alone = model.Alone();  // 8, 16 and 32 pages
  EXPECT_EQ(alone[0].groups, std::vector<uint32_t>{1});
  using Groups = std::vector<uint32_t>;
  EXPECT_EQ(model.WithinLimit(0, alone), Groups{});
  EXPECT_EQ(model.WithinLimit(8, alone), (Groups{0}));
  EXPECT_EQ(model.WithinLimit(23, alone), (Groups{0}));
  const Groups both = model.WithinLimit(24, alone);
  EXPECT_EQ(both.size(), 2u);
  EXPECT_EQ(model.WithinLimit(1000, alone).size(), 3u);
}

TEST(PageModel, WhatSavesNothingIsNotChosen) {
  Program program = RandomProgram({8, 0});
  program.faults.clear();
  const auto model = Load(program).value();
  EXPECT_EQ(model.WithinLimit(1000, model.Alone()), std::vector<uint32_t>{0});
}

TEST(PageModel, OthersAreNeverLarge) {
  Program program = RandomProgram({8, 4});
  program.groups[0].eligible = false;
  const auto model = Load(program).value();
  const uint32_t both[] = {0, 1};
  EXPECT_EQ(model.Predict(both).groups, std::vector<uint32_t>{1});
  EXPECT_EQ(model.Predict(both).pmb_walks.value, 100);
  EXPECT_EQ(model.Alone().size(), 1u);
}

TEST(PageModel, NothingToGainIsZeroPercent) {
  Program program = RandomProgram({8});
  program.bursts = {{{StartOf(0), 0, true}}};
  program.faults.clear();
  const auto model = Load(program).value();
  EXPECT_EQ(model.all().pmb_walks.value, 0);
  EXPECT_EQ(model.all().pmb_faults.value, 0);
  const auto empty = Load({}).value();
  EXPECT_EQ(empty.all().walks, 0u);
  EXPECT_TRUE(empty.Greedy().empty());
}

TEST(PageModel, OneBurstHasNoError) {
  const auto model = Load(RandomProgram({8, 4}, 1)).value();
  EXPECT_FALSE(model.Alone()[0].pmb_walks.error.has_value());
}

TEST(PageModel, PlacementsOfUnknownGroupsAreRefused) {
  Program program = RandomProgram({8});
  program.placements[0].group = 1;
  EXPECT_EQ(Load(program).error().message,
            "a placement at 0x80000000 is of the group 1, but there are 1 groups");
}

// A placement that begins and ends while references are traced.
TEST(PageModel, AReferenceIsOfTheGroupOfItsTime) {
  Program program = RandomProgram({8, 0}, 1);
  program.placements = {{StartOf(0), kGroupSize, 0, 10'000, 0},
                        {StartOf(0), kGroupSize, 10'000, kForever, 1}};
  const auto model = Load(program).value();
  for (const PagePrediction& alone : model.Alone()) EXPECT_NEAR(alone.pmb_walks.value, 50, 1);
}

// So many references that most pages of the sample stand for several.
TEST(PageModel, ASampleIsNearTheSimulation) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "one thread only, and half a minute with a sanitizer";
#endif
  ModelOptions options;
  options.tlb = ParseTlb("l1=64/full,l2=2048/16").value();
  const Program program = RandomProgram({6, 5, 4}, 4, 60'000);
  const auto exact = Load(program, options).value();
  options.sampling_weight = kOnePercent;
  const auto sampled = Load(program, options).value();
  const auto n = static_cast<double>(exact.references());
  for (uint32_t group = 0; group < 3; ++group) {
    const PagePrediction a = exact.Predict({&group, 1}), b = sampled.Predict({&group, 1});
    EXPECT_LT(std::abs(static_cast<double>(a.walks) - static_cast<double>(b.walks)) / n, 0.02);
    EXPECT_LT(
        std::abs(static_cast<double>(a.first_misses) - static_cast<double>(b.first_misses)) / n,
        0.02);
    EXPECT_NEAR(a.pmb_walks.value, b.pmb_walks.value, 2);
  }
  EXPECT_EQ(sampled.all().walks, exact.all().walks);  // few pages: all of them are in the sample
}

TEST(Jackknife, OfAMeanIsItsStandardError) {
  const double values[] = {1, 2, 3, 6}, ones[] = {1, 1, 1, 1};
  double squares = 0;
  for (const double value : values) squares += (value - 3) * (value - 3);
  EXPECT_NEAR(JackknifeError(values, ones).value(), std::sqrt(squares / (4 * 3)), 1e-12);
}

TEST(Jackknife, IsUnknownForOneBurstAndForNothing) {
  const double values[] = {1, 2}, zeros[] = {0, 0};
  EXPECT_FALSE(JackknifeError({values, 1}, {values, 1}).has_value());
  EXPECT_FALSE(JackknifeError(values, zeros).has_value());
}

}  // namespace
}  // namespace jprof::cpo
